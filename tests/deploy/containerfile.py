"""`deploy/Containerfile` carried out without a container engine: each step in a root of one's own, in the file's order."""

from __future__ import annotations

import json
import re
import shlex
import subprocess
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath

from tests.deploy.machine import system_python
from tests.deploy.roots import Root
from tests.house.checkout import ROOT

LAST = "last"
_JOINED = re.compile(r"\\\n\s*")


def steps(path: Path) -> list[tuple[str, str]]:
    """Every instruction with its words, lines that go on joined, without comments."""
    text = "\n".join(line for line in path.read_text(encoding="utf-8").splitlines() if not line.startswith("#"))
    lines = [line.partition(" ") for line in _JOINED.sub("", text).splitlines() if line]
    return [(instruction, words.strip()) for instruction, _, words in lines]


@dataclass
class Image:
    """What an engine would know of the last stage, beside its files."""

    root: Root
    environment: dict[str, str] = field(default_factory=dict[str, str])
    user: str = ""
    workdir: str = "/"
    entrypoint: list[str] = field(default_factory=list[str])
    command: list[str] = field(default_factory=list[str])
    healthcheck: list[str] = field(default_factory=list[str])
    volumes: list[str] = field(default_factory=list[str])
    stop_signal: str = ""

    def started(self, words: list[str], environment: dict[str, str]) -> list[str]:
        """A command line as an engine runs it: as the image's user, without a capability, in the read-only root."""
        uid, gid = self.user.split(":")
        pairs = [f"{name}={value}" for name, value in {**self.environment, **environment}.items()]
        script = 'cd "$1" && shift && exec "$@"'
        return self.root.inside(
            "setpriv", f"--reuid={uid}", f"--regid={gid}", "--clear-groups", "--no-new-privs", "--bounding-set=-all",
            "--inh-caps=-all", "env", "--ignore-environment", *pairs, "sh", "-c", script, "start", self.workdir, *words,
        )  # fmt: skip


def build(place: Path, roots: ExitStack) -> Image:
    """Carries the file out and answers its last stage. Its roots last as long as `roots`."""
    stages: dict[str, Image] = {}
    image: Image | None = None
    for instruction, words in steps(ROOT / "deploy/Containerfile"):
        if instruction == "FROM":
            name = words.partition(" AS ")[2] or LAST
            image = stages[name] = Image(roots.enter_context(Root(place / name, checkout=False)))
            _lay_base(image.root, pip=name != LAST)
            continue
        assert image is not None
        _carry_out(image, instruction, words, stages)
    assert image is not None
    return image


def _lay_base(root: Root, *, pip: bool) -> None:
    """A stand-in for the image `python:…-slim`: a `python` in /usr/local, and the mark by which an engine is known.

    The real one has pip in every stage; the last stage does without, which saves some seconds.
    """
    root.run(system_python(), "-m", "venv", *([] if pip else ["--without-pip"]), "/usr/local")
    root.write("/.dockerenv", "")


def _carry_out(image: Image, instruction: str, words: str, stages: dict[str, Image]) -> None:
    match instruction:
        case "RUN":
            image.root.run("sh", "-c", f"cd {image.workdir} && {words}", env=image.environment)
        case "COPY":
            _copy(image, shlex.split(words), stages)
        case "ENV":
            image.environment |= dict(pair.split("=", 1) for pair in shlex.split(words))
        case "WORKDIR":
            image.workdir = words
            image.root.run("mkdir", "-p", words)
        case "USER":
            image.user = words
        case "VOLUME":
            image.volumes = json.loads(words)
        case "ENTRYPOINT":
            image.entrypoint = json.loads(words)
        case "CMD":
            image.command = json.loads(words)
        case "HEALTHCHECK":
            image.healthcheck = json.loads(words.partition(" CMD ")[2])
        case "STOPSIGNAL":
            image.stop_signal = words
        case "LABEL" | "EXPOSE":
            pass
        case _:
            raise AssertionError(f"no step for {instruction}")


def _copy(image: Image, words: list[str], stages: dict[str, Image]) -> None:
    if words[0].startswith("--from="):
        source, target = words[1:]
        packing = stages[words[0].removeprefix("--from=")].root.inside("tar", "-C", source, "-c", ".")
    else:
        *sources, target = words
        if target.endswith(".py"):
            (source,) = sources
            image.root.write(target, (ROOT / source).read_text(encoding="utf-8"))
            return
        # A single folder's content is copied, not the folder; files go into the folder that the target names.
        folder = ROOT / sources[0] if len(sources) == 1 else ROOT
        names = ["."] if len(sources) == 1 else sources
        packing = ["tar", "-C", str(folder), "--exclude=__pycache__", "-c", *names]
    place = str(PurePosixPath(image.workdir) / target)
    image.root.run("mkdir", "-p", place)
    with subprocess.Popen(packing, stdout=subprocess.PIPE) as packed:
        subprocess.run(image.root.inside("tar", "-C", place, "--no-same-owner", "-x"), stdin=packed.stdout, check=True)
    assert packed.returncode == 0
