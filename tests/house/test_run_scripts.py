"""The scripts that make their own virtual environment, tried with a stand-in for Python that installs nothing."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.house.checkout import ROOT

SCRIPTS = ["deploy/run", "deploy/venv.sh", "tests/run"]

# Writes down each call, makes an environment that holds itself, and "installs" a waybread that repeats its arguments.
# What it is asked with -c, the real Python answers: the locks are real.
STAND_IN = f"""#!/bin/sh
case "$1 $2" in
"-V "*) echo Python 3.11.99 ;;
"-m venv")
    echo venv $3 >>"$CALLS"
    rm -rf "$4"
    mkdir -p "$4/bin"
    cp "$0" "$4/bin/python"
    ;;
"-m pip")
    echo pip >>"$CALLS"
    sleep "${{PIP_TAKES_S:-0}}"
    if [ -n "${{PIP_FAILS:-}}" ]; then
        echo "pip: no such package"
        exit 1
    fi
    printf '#!/bin/sh\\necho waybread "$@"\\n' >"${{0%/*}}/waybread"
    chmod +x "${{0%/*}}/waybread"
    ;;
"-m pytest")
    shift 2
    echo pytest "$@"
    ;;
*"ensurepip"*) [ -z "${{NO_ENSUREPIP:-}}" ] ;;
*) exec '{sys.executable}' "$@" ;;
esac
"""


class Clone:
    """A checkout with the scripts and nothing else, and a search path with what POSIX has and the given Pythons."""

    def __init__(self, folder: Path) -> None:
        self.root = folder / "a clone"
        for name in [*SCRIPTS, "pyproject.toml"]:
            (self.root / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(ROOT / name, self.root / name)
        self.calls = folder / "calls"
        self.calls.touch()
        self.bin = folder / "bin"
        self.bin.mkdir()
        for tool in ["sh", "cat", "chmod", "cksum", "cp", "dirname", "head", "mkdir", "mv", "rm", "sleep"]:
            found = shutil.which(tool)
            assert found is not None
            (self.bin / tool).symlink_to(found)

    def add_python(self, name: str, text: str = STAND_IN) -> None:
        (self.bin / name).write_text(text)
        (self.bin / name).chmod(0o755)

    def start(self, *arguments: str, **environment: str) -> subprocess.Popen[str]:
        return subprocess.Popen(
            ["sh", *arguments],
            cwd=self.root.parent,
            env={"PATH": str(self.bin), "CALLS": str(self.calls), **environment},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )

    def run(self, script: str, *arguments: str, **environment: str) -> tuple[int, str, str]:
        process = self.start(str(self.root / script), *arguments, **environment)
        out, err = process.communicate(timeout=60)
        return process.returncode, out, err

    def called(self) -> list[str]:
        return self.calls.read_text().splitlines()


@pytest.fixture
def clone(tmp_path: Path) -> Clone:
    return Clone(tmp_path)


@pytest.mark.parametrize("script", SCRIPTS)
def test_sh_can_parse_the_script(script: str) -> None:
    assert subprocess.run(["sh", "-n", ROOT / script], check=False, capture_output=True).stderr == b""


def test_bash_can_parse_what_ci_runs() -> None:
    bash = shutil.which("bash")
    if bash is None:
        pytest.skip("bash is not installed")
    assert subprocess.run([bash, "-n", ROOT / ".ci/run"], check=False, capture_output=True).stderr == b""


def test_shellcheck_finds_nothing_in_the_scripts() -> None:
    shellcheck = shutil.which(
        "shellcheck", path=f"{Path(sys.executable).parent}{os.pathsep}{os.environ.get('PATH', '')}"
    )
    if shellcheck is None:
        pytest.skip("shellcheck is not installed; .ci/run brings it")
    scripts = [str(ROOT / name) for name in [*SCRIPTS, ".ci/run"]]
    command = [shellcheck, "--external-sources", f"--source-path={ROOT}", *scripts]
    assert subprocess.run(command, check=False, capture_output=True, text=True).stdout == ""


def test_the_first_run_sets_up_and_serves_and_only_waybread_writes_to_standard_output(clone: Clone) -> None:
    clone.add_python("python3.11")
    status, out, err = clone.run("deploy/run")
    assert (status, out) == (0, "waybread serve\n")
    assert clone.called() == ["venv --clear", "pip"]
    assert err == (
        f"waybread: setting up {clone.root}/.venv-run with Python 3.11.99 (first use, or pyproject.toml has changed).\n"
    )


def test_the_second_run_sets_up_nothing_and_says_nothing(clone: Clone) -> None:
    clone.add_python("python3.11")
    clone.run("deploy/run")
    assert clone.run("deploy/run", "demo", "--speed", "a b") == (0, "waybread demo --speed a b\n", "")
    assert clone.called() == ["venv --clear", "pip"]


def test_a_changed_pyproject_installs_again_into_the_environment_that_a_daemon_may_be_using(clone: Clone) -> None:
    clone.add_python("python3.11")
    clone.run("deploy/run")
    with (clone.root / "pyproject.toml").open("a") as file:
        file.write("# changed\n")
    assert clone.run("deploy/run")[:2] == (0, "waybread serve\n")
    assert clone.called() == ["venv --clear", "pip", "pip"]


def test_an_environment_left_half_made_is_made_anew(clone: Clone) -> None:
    clone.add_python("python3.11")
    clone.run("deploy/run")
    (clone.root / ".venv-run/stamp").unlink()
    assert clone.run("deploy/run")[:2] == (0, "waybread serve\n")
    assert clone.called() == ["venv --clear", "pip", "venv --clear", "pip"]


def test_a_checkout_that_was_moved_makes_its_environment_anew(clone: Clone) -> None:
    clone.add_python("python3.11")
    clone.run("deploy/run")
    clone.root = clone.root.rename(clone.root.with_name("moved"))
    assert clone.run("deploy/run")[:2] == (0, "waybread serve\n")
    assert clone.called() == ["venv --clear", "pip", "venv --clear", "pip"]


def test_an_environment_whose_python_is_gone_is_made_anew(clone: Clone) -> None:
    clone.add_python("python3.11")
    clone.run("deploy/run")
    (clone.root / ".venv-run/bin/python").unlink()
    assert clone.run("deploy/run")[:2] == (0, "waybread serve\n")
    assert clone.called() == ["venv --clear", "pip", "venv --clear", "pip"]


def test_a_failed_install_shows_what_pip_said_and_the_next_run_repairs_it(clone: Clone) -> None:
    clone.add_python("python3.11")
    status, out, err = clone.run("deploy/run", PIP_FAILS="1")
    assert (status, out) == (1, "")
    assert err.splitlines()[1:] == [
        "pip: no such package",
        (
            "waybread: pip could not install what Waybread needs; its own words are above. "
            "Check the network connection and run this again: it starts afresh."
        ),
    ]
    assert clone.run("deploy/run")[:2] == (0, "waybread serve\n")
    assert clone.called() == ["venv --clear", "pip", "venv --clear", "pip"]


def test_two_first_runs_at_once_set_up_once(clone: Clone) -> None:
    clone.add_python("python3.11")
    runs = [clone.start(str(clone.root / "deploy/run"), word, PIP_TAKES_S="0.5") for word in ("a", "b")]
    ends = [run.communicate(timeout=60) for run in runs]
    assert [out for out, _ in ends] == ["waybread a\n", "waybread b\n"]
    assert clone.called() == ["venv --clear", "pip"]
    waiting = f"waybread: another run is setting up {clone.root}/.venv-run; waiting for it.\n"
    assert sum(err == waiting for _, err in ends) == 1


def test_a_machine_without_python_gets_a_sentence(clone: Clone) -> None:
    status, out, err = clone.run("deploy/run")
    assert (status, out) == (1, "")
    assert err == (
        "waybread: no Python 3.11 or newer was found. "
        "Install one, or name it in the variable WAYBREAD_PYTHON, and run this again.\n"
    )


def test_a_python_that_is_too_old_or_only_a_name_is_passed_over(clone: Clone) -> None:
    clone.add_python("python3.13", "#!/bin/sh\necho no such version >&2\nexit 127\n")
    clone.add_python("python3.12", "#!/bin/sh\nexit 1\n")
    clone.add_python("python3")
    assert clone.run("deploy/run")[:2] == (0, "waybread serve\n")


def test_the_python_that_is_named_comes_first(clone: Clone) -> None:
    clone.add_python("python3.13", "#!/bin/sh\nexit 1\n")
    clone.add_python("own-python")
    assert clone.run("deploy/run", WAYBREAD_PYTHON=str(clone.bin / "own-python"))[:2] == (0, "waybread serve\n")


def test_a_python_without_ensurepip_gets_a_sentence_that_says_what_to_install(clone: Clone) -> None:
    clone.add_python("python3.11")
    status, out, err = clone.run("deploy/run", NO_ENSUREPIP="1")
    assert (status, out) == (1, "")
    assert err == (
        "waybread: python3.11 cannot make virtual environments (its venv or ensurepip module is missing). "
        "Install it (on Debian and Ubuntu: apt install python3-venv) and run this again.\n"
    )
    assert clone.called() == []


def test_the_tests_have_an_environment_of_their_own_and_pass_arguments_on_to_pytest(clone: Clone) -> None:
    clone.add_python("python3.11")
    assert clone.run("tests/run", "--long", "-k", "a b")[:2] == (0, "pytest --long -k a b\n")
    assert (clone.root / ".venv-test/stamp").is_file()
    assert not (clone.root / ".venv-run").exists()
