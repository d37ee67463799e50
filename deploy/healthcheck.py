"""Whether the daemon of this container answers and takes what it is sent: status 0, or 1 and a sentence. HEALTHCHECK runs it.

It asks over the control socket, so that neither the port nor TLS matter.
"""

# ruff: noqa: INP001  # a script, and no part of a package

import os
import sys
from pathlib import Path

from waybread_daemon.cli.asking import asking
from waybread_daemon.cli.faults import CommandFault
from waybread_daemon.link.control.messages import AskStatus, Status


def main() -> int:
    """Asks, and answers the exit status."""
    try:
        with asking(Path(os.environ["WAYBREAD_DATA"])) as daemon:
            status = daemon.ask(AskStatus(), Status)
    except CommandFault as fault:
        why = fault.sentence
    else:
        why = "" if status.ready else f"the daemon takes nothing new: {status.why}"
    if why:
        sys.stderr.write(f"waybread: {why}\n")
    return 1 if why else 0


if __name__ == "__main__":
    sys.exit(main())
