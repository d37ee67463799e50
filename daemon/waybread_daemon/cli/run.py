"""Runs a command and turns what stops it into a sentence on standard error and an exit status."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Mapping
from typing import cast

from waybread_client.errors import LinkError
from waybread_daemon.cli.faults import CommandFault
from waybread_daemon.cli.options import is_utf8
from waybread_daemon.cli.screen import legible
from waybread_daemon.config import ConfigError
from waybread_daemon.store.contract import StoreFault, StoreRefusal

FAILED = 1
WRONG_USAGE = 2
_STORES_ADVICE = "name another file"
_COMMANDS_ADVICE = "name another data folder with --data"
"""A store knows its file. A person at a command names the folder that it is in."""


def run_command(module: str, words: list[str], environment: Mapping[str, str]) -> int:
    """Carries out the command that `module` holds. What it does not expect comes through as a traceback."""
    for word in words:
        if not is_utf8(word):
            # Whatever it names could be neither stored nor printed.
            print(
                f"waybread: the argument {word!r:.80} is not UTF-8: name something else, or rename it", file=sys.stderr
            )
            return WRONG_USAGE
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
        # It may name what is stored, came over a link, or is a file's name.
        print(f"waybread: {legible(sentence)}", file=sys.stderr)
    return FAILED
