"""Runs a command and turns what stops it into a sentence on standard error and an exit status."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Mapping
from typing import cast

from waybread_client.errors import LinkError
from waybread_daemon.cli.faults import CommandFault
from waybread_daemon.config import ConfigError
from waybread_daemon.store.contract import StoreFault, StoreRefusal

FAILED = 1


def run_command(module: str, words: list[str], environment: Mapping[str, str]) -> int:
    """Carries out the command that `module` holds. What it does not expect comes through as a traceback."""
    try:
        return cast("int", importlib.import_module(module).main(words, environment))
    except ConfigError as fault:
        sentences = fault.faults
    except StoreFault as fault:
        sentences = [fault.sentence]
    except (CommandFault, StoreRefusal, LinkError) as fault:
        sentences = [str(fault)]
    for sentence in sentences:
        print(f"waybread: {sentence}", file=sys.stderr)
    return FAILED
