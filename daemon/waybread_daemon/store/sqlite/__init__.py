"""The store in one SQLite file.

What it promises stands in `store.contract`. The way through it: `store` is what the event loop holds; it hands records
to `writer`, the one thread that writes, and looks to a few threads that each have a `reader`. `batch` turns records
into rows, `staging` writes large content ahead, `purge` takes away what nobody holds, `checkpoints` keeps the log short.
"""

from waybread_daemon.store.sqlite.blocking import Accounts, open_accounts, open_reader
from waybread_daemon.store.sqlite.store import SqliteStore

__all__ = ["SqliteStore", "Accounts", "open_accounts", "open_reader"]
