"""Runs a command and turns what stops it into a sentence on standard error and an exit status."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Mapping
from typing import cast

from waybread_client.errors import LinkError
from waybread_daemon.cli.faults import CommandFault
from waybread_daemon.cli.screen import harmless
from waybread_daemon.config import ConfigError
from waybread_daemon.store.contract import StoreFault, StoreRefusal

FAILED = 1
_STORES_ADVICE = "name another file"
_COMMANDS_ADVICE = "name another data folder with --data"
"""A store knows its file. A person at a command names the folder that it is in."""


def run_command(module: str, words: list[str], environment: Mapping[str, str]) -> int:
    """Carries out the command that `module` holds. What it does not expect comes through as a traceback."""
    try:
        return cast("int", importlib.import_module(module).main(words, environment))
    except ConfigError as fault:
        sentences = fault.faults
    except StoreFault as fault:
        sentences = [fault.sentence]
    except StoreRefusal as fault:
        sentences = [str(fault).replace(_STORES_ADVICE, _COMMANDS_ADVICE)]
    except (CommandFault, LinkError) as fault:
        sentences = [str(fault)]
    for sentence in sentences:
        # It may name what is stored or came over a link.
        print(f"waybread: {harmless(sentence) if sys.stderr.isatty() else sentence}", file=sys.stderr)
    return FAILED
