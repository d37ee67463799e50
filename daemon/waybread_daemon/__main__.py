"""The program `waybread`: finds the command, lends it the environment, and gives the process its exit status.

Help, the version and a mistyped command are answered before anything is imported: they are there at once.
"""

from __future__ import annotations

import os
import sys

from waybread_daemon import VERSION

COMMANDS = {
    "serve": "waybread_daemon.cli.serve",
    "device": "waybread_daemon.cli.device",
    "pair": "waybread_daemon.cli.pair",
    "status": "waybread_daemon.cli.status",
    "session": "waybread_daemon.cli.session",
    "sessions": "waybread_daemon.cli.sessions",
    "transcript": "waybread_daemon.cli.transcript",
    "recall": "waybread_daemon.cli.recall",
    "export": "waybread_daemon.cli.export",
    "backup": "waybread_daemon.cli.backup",
    "restore": "waybread_daemon.cli.restore",
    "migrate": "waybread_daemon.cli.migrate",
    "doctor": "waybread_daemon.cli.doctor.command",
    "demo": "waybread_daemon.cli.demo.command",
    "conformance": "waybread_daemon.cli.conformance",
}
"""Each command and the module whose `main` carries it out."""

HELP = """\
usage: waybread COMMAND [ARGUMENT ...]

Keeps a model's context clean: devices send tool results, get back short exact text, and can recall every result.

Run it:
  serve         run the daemon in the foreground
  pair          show a one-time code for a new device, as a QR code and as text
  device        add, list, rename, revoke and delete devices and their tokens
  session       delete a session, so that its space is free
  status        show how the daemon is, who is linked, and what takes the room

Look into the store (a daemon may be running or not):
  sessions      list sessions, the last changed first
  transcript    show a session, each text as the model got it
  recall        show a stored result in full
  export        print a session as JSON Lines, with everything that it stored

Back up, move, repair:
  backup        copy the store, while the daemon runs or not
  restore       put a backup in the place of the store
  migrate       bring the store of an older version up to date, or try it
  doctor        look at everything that can be wrong, and say what to do

Try it:
  demo          show the main job on real files
  conformance   run the cases against this package, a daemon or another implementation

`waybread COMMAND --help` tells more, with an example. `waybread --version` prints the version.

Settings come from waybread.toml in the data folder, then from WAYBREAD_... in the environment, then from flags.
The data folder is --data, else WAYBREAD_DATA, else this platform's own.
Exit status: 0 done, 1 refused or failed, 2 wrong usage.

example:
  waybread serve --port 8787
"""


def main(arguments: list[str] | None = None) -> int:
    """Carries out a command line (this process's own, where none is given) and answers the exit status."""
    words = sys.argv[1:] if arguments is None else arguments
    _open_closed(words[:1] == ["serve"])
    status = 0
    try:
        try:
            status = _carry_out(words)
        except SystemExit as end:
            # Wrong usage, or a command's help.
            status = end.code if isinstance(end.code, int) else 1
        sys.stdout.flush()
    except BrokenPipeError:
        # Who read the output has enough of it (`| head`).
        _drop_output()
    except OSError as fault:
        _drop_output()
        if not status:
            sys.stderr.write(f"waybread: {_refused(fault)}\n")
        return status or 1
    except KeyboardInterrupt:
        return 130
    return status


def _open_closed(nobody_listens: bool) -> None:
    """Standard streams that are closed: else the next file that is opened would take the place of one, and be written to.

    To print then fails as it does for other programs; a daemon goes on where `nobody_listens` to its first line.
    """
    for number, (name, mode) in enumerate((("stdin", "r"), ("stdout", "w"), ("stderr", "w"))):
        if getattr(sys, name) is not None:
            continue
        flags = os.O_RDONLY if name == "stdin" or (name == "stdout" and not nobody_listens) else os.O_WRONLY
        opened = os.open(os.devnull, flags)
        if opened != number:
            os.dup2(opened, number)
            os.close(opened)
        setattr(sys, name, open(number, mode, encoding="utf-8", closefd=False))  # noqa: SIM115  # to the end


def _refused(fault: OSError) -> str:
    import errno

    if fault.errno == errno.EBADF:
        return "standard output is closed: let it go somewhere, to /dev/null at least"
    return f"the system refused ({fault}): look at the space and the permissions there"


def _drop_output() -> None:
    """What is still buffered would complain when the process exits."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _carry_out(words: list[str]) -> int:
    first = words[0] if words else ""
    if first == "help" and len(words) > 1:
        return _carry_out([*words[1:], "--help"])
    if first in ("-h", "--help", "help"):
        sys.stdout.write(HELP)
        return 0
    if first == "--version":
        sys.stdout.write(f"waybread {VERSION}\n")
        return 0
    if first not in COMMANDS:
        sys.stderr.write(f"waybread: {_no_command(first)}\n")
        return 2

    if first == "serve":
        from waybread_daemon.life.early import end_at_once

        end_at_once()

    from waybread_daemon.cli.run import run_command

    return run_command(COMMANDS[first], words[1:], os.environ)


def _no_command(word: str) -> str:
    if not word:
        return "a command is missing: `waybread --help` lists them"
    import difflib

    near = difflib.get_close_matches(word, COMMANDS, 1, 0.5)
    ask = f"is it `waybread {near[0]}`? " if near else ""
    return f"there is no command {word!r}: {ask}`waybread --help` lists them"


if __name__ == "__main__":
    sys.exit(main())
