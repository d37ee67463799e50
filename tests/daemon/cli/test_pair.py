"""`waybread pair` as a person sees it: a daemon, the command, and a device that says the code."""

from __future__ import annotations

import asyncio
import hashlib
import json
import os
import pty
import signal
import ssl
import subprocess
from pathlib import Path

import pytest
import trustme

from tests.daemon.cli.pairing import pairing, say
from tests.daemon.cli.support import PROGRAM, TIMEOUT_S, Daemon, environment, serving, waybread
from waybread_client import Link

LOCAL = "The daemon listens on this machine alone, so a phone cannot reach it."


def role_of(daemon: Daemon, token: str) -> str:
    async def ask() -> str:
        async with Link(daemon.url, token) as link:
            return link.welcome.role

    return asyncio.run(ask())


def test_a_phone_pairs_by_the_code_that_the_command_shows(tmp_path: Path) -> None:
    with serving(tmp_path / "data") as daemon, pairing(daemon.data, "phone") as command:
        assert command.until("link ") == daemon.url
        code = command.until("code ")
        assert command.until("page ") == daemon.url.replace("ws", "http").removesuffix("link")
        assert command.until("good until ").endswith(", 5 minutes, for one device")
        command.until("Waiting for a device. Ctrl-C withdraws the code.")
        assert LOCAL in command.said
        # A code may be typed by hand: small letters, no dashes.
        paired = say(daemon, code.replace("-", " ").lower(), "its own name")
        assert paired["type"] == "paired"
        token = paired["token"].partition(".")[0]
        assert command.ended() == (
            0,
            (
                f"phone paired as device {paired['device']} (device).\n"
                f"Its token is {token}, called its own name: `waybread device revoke {token}` ends it.\n"
            ),
            "",
        )
        assert role_of(daemon, paired["token"]) == "device"
        (listed,) = waybread("device", "list", "--data", daemon.data, "--json").objects()
        assert (listed["device"], listed["name"]) == (paired["device"], "phone")


def test_json_is_the_offer_and_then_the_outcome(tmp_path: Path) -> None:
    with serving(tmp_path / "data") as daemon, pairing(daemon.data, "--role", "viewer", "--json") as command:
        offer = json.loads(command.line())
        plain = offer["code"].replace("-", "")
        port = daemon.url.rpartition(":")[2].removesuffix("/link")
        assert offer["page"] == f"http://127.0.0.1:{port}/#pair={plain}"
        assert (offer["link"], offer["fingerprint"], offer["others"]) == (daemon.url, "", [])
        paired = say(daemon, offer["code"], "what it calls itself")
        ran = command.ended()
    assert (ran.status, ran.err) == (0, "")
    assert ran.objects() == [
        {
            "outcome": "paired",
            "device": paired["device"],
            "name": "what it calls itself",
            "role": "viewer",
            "token": paired["token"].partition(".")[0],
            "token_name": "what it calls itself",
        }
    ]
    assert paired["role"] == "viewer"


def test_a_further_token_of_a_device(tmp_path: Path) -> None:
    with serving(tmp_path / "data") as daemon:
        made = daemon.device("tablet")
        with pairing(daemon.data, "--device", made["device"], "--role", "agent") as command:
            paired = say(daemon, command.until("code "), "")
            token = paired["token"].partition(".")[0]
            assert paired["device"] == made["device"]
            assert command.ended().out.endswith(
                f"\ntablet paired as device {made['device']} (agent).\n"
                f"Its token is {token}: `waybread device revoke {token}` ends it.\n"
            )


def test_guessed_codes_end_it_with_a_sentence(tmp_path: Path) -> None:
    with serving(tmp_path / "data") as daemon, pairing(daemon.data, "--json") as command:
        command.line()
        for number in range(5):
            assert say(daemon, str(number) * 26)["code"] == "unauthenticated"
        ran = command.ended()
    assert ran.status == 1
    (outcome,) = ran.objects()
    assert outcome["outcome"] == "void"
    assert ran.err == f"waybread: {outcome['why']}\n"
    assert outcome["why"].startswith("5 wrong codes were tried")


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL])
def test_a_command_that_ends_takes_its_code_with_it(tmp_path: Path, number: signal.Signals) -> None:
    with serving(tmp_path / "data") as daemon, pairing(daemon.data) as command:
        code = command.until("code ")
        command.until("Waiting ")
        command.process.send_signal(number)
        ran = command.ended()
        assert ran.status != 0
        assert "Traceback" not in ran.err
        assert say(daemon, code)["code"] == "unauthenticated"


def test_a_daemon_that_stops_ends_it_with_a_sentence(tmp_path: Path) -> None:
    with serving(tmp_path / "data") as daemon, pairing(daemon.data) as command:
        command.until("Waiting ")
        assert daemon.stop() == 0
        assert command.ended() == (1, "", "waybread: the daemon stops: start it again, then repeat the command\n")
        assert not (daemon.data / "waybread.sock").exists()


def test_a_daemon_that_was_killed_ends_it_and_a_new_one_takes_its_place(tmp_path: Path) -> None:
    with serving(tmp_path / "data") as daemon, pairing(daemon.data) as command:
        command.until("Waiting ")
        daemon.stop(signal.SIGKILL)
        ran = command.ended()
        assert (ran.status, ran.out) == (1, "")
        assert ran.err.startswith("waybread: the daemon ended before it answered")
    with serving(tmp_path / "data") as daemon, pairing(daemon.data) as command:
        assert say(daemon, command.until("code "))["type"] == "paired"


def test_a_data_folder_deeper_than_a_sockets_path_may_be_works(tmp_path: Path) -> None:
    data = tmp_path / ("x" * 100) / ("y" * 100)
    data.parent.mkdir()
    with serving(data) as daemon, pairing(data) as command:
        assert say(daemon, command.until("code "))["type"] == "paired"


def test_the_code_stands_in_no_process_title_and_in_no_log(tmp_path: Path) -> None:
    with serving(tmp_path / "data", "--log-level", "debug") as daemon, pairing(daemon.data) as command:
        code = command.until("code ")
        titles = [Path(f"/proc/{one.process.pid}/cmdline").read_bytes().decode() for one in (command, daemon)]
        say(daemon, code)
        command.ended()
    said = "".join(titles) + daemon.log()
    assert "pair" in titles[0]
    assert [word for word in (code, code.replace("-", "")) if word.lower() in said.lower()] == []


def test_an_address_may_be_named_and_is_what_the_code_is_shown_with(tmp_path: Path) -> None:
    with serving(tmp_path / "data") as daemon:
        with pairing(daemon.data, "--url", "wss://way.example.org/link", "--json") as command:
            offer = json.loads(command.line())
        with pairing(daemon.data, "--url", "https://way.example.org") as command:
            command.until("Waiting ")
    assert offer["page"].startswith("https://way.example.org/#pair=")
    assert offer["link"] == "wss://way.example.org/link"
    assert offer["others"] == [daemon.url]
    assert LOCAL not in command.said


def test_the_public_url_is_what_is_shown(tmp_path: Path) -> None:
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "waybread.toml").write_text('public_url = "https://way.example.org"\n')
    with serving(tmp_path / "data") as daemon, pairing(daemon.data) as command:
        assert command.until("link ") == "wss://way.example.org/link"
        command.until("Waiting ")
    assert LOCAL not in command.said


def test_a_daemon_on_every_address_shows_one_that_a_phone_reaches(tmp_path: Path) -> None:
    with (
        serving(tmp_path / "data", "--host", "0.0.0.0", "--allow-plaintext") as daemon,
        pairing(daemon.data, "--json") as command,
    ):
        offer = json.loads(command.line())
    assert "//0.0.0.0:" not in offer["link"]
    assert "//127.0.0.1:" not in offer["link"]


def test_a_terminal_gets_a_qr_code_and_a_pipe_only_when_asked(tmp_path: Path) -> None:
    with serving(tmp_path / "data") as daemon:
        with pairing(daemon.data) as command:
            command.until("Waiting ")
        assert "\x1b" not in command.said
        with pairing(daemon.data, "--qr") as command:
            command.until("Waiting ")
        assert command.said.startswith("\x1b[38;5;16;48;5;231m    ")
        assert "█▀▀▀▀▀█" in command.said
        on_terminal = shown_on_a_terminal(daemon.data, columns=80)
        assert "█▀▀▀▀▀█" in on_terminal
        narrow = shown_on_a_terminal(daemon.data, columns=30)
        assert "█▀▀▀▀▀█" not in narrow
        assert "The QR code needs 41 columns, and this terminal has 30: widen it, or type the code." in narrow


def shown_on_a_terminal(data: Path, columns: int) -> str:
    ours, theirs = pty.openpty()
    process = subprocess.Popen(
        [*PROGRAM, "pair", "--data", str(data)],
        stdin=theirs,
        stdout=theirs,
        stderr=theirs,
        env=environment(COLUMNS=str(columns), LINES="50"),
    )
    os.close(theirs)
    said = b""
    while b"Waiting" not in said:
        said += os.read(ours, 65536)
    process.kill()
    process.wait()
    os.close(ours)
    return said.decode()


def test_a_reader_that_leaves_before_anybody_has_paired_is_a_failure_and_the_code_is_void(tmp_path: Path) -> None:
    with serving(tmp_path / "data") as daemon:
        read, write = os.pipe()
        os.close(read)
        with os.fdopen(write, "wb") as output:
            ended = subprocess.run(
                [*PROGRAM, "pair", "--data", str(daemon.data)],
                check=False,
                stdout=output,
                stderr=subprocess.PIPE,
                env=environment(),
                text=True,
                timeout=TIMEOUT_S,
            )
    assert ended.returncode == 1
    assert ended.stderr.startswith(
        "waybread: whoever read the output left before a device took the code, so it is void"
    )
    assert ended.stderr.count("\n") == 1


def test_a_device_that_is_revoked_gets_no_token_by_a_code_that_was_open_and_the_command_is_told(tmp_path: Path) -> None:
    with serving(tmp_path / "data") as daemon:
        device = daemon.device("tablet")
        with pairing(daemon.data, "--device", device["device"]) as command, pairing(daemon.data, "phone") as other:
            code, kept = command.until("code "), other.until("code ")
            for _ in range(2):
                # The second time there is no token left to revoke.
                assert waybread("device", "revoke", device["device"], "--data", daemon.data).status == 0
            ran = command.ended()
            assert ran.status == 1
            assert ran.err.startswith("waybread: the device was revoked while its code was open, so the code is void")
            assert say(daemon, code)["code"] == "unauthenticated"
            assert say(daemon, kept)["type"] == "paired"
        with pairing(daemon.data, "--device", device["device"]) as command:
            code = command.until("code ")
            assert waybread("device", "revoke", device["device"], "--data", daemon.data).status == 0
            assert command.ended().status == 1
            assert say(daemon, code)["code"] == "unauthenticated"


def test_a_phone_whose_answer_was_lost_does_no_harm_to_other_codes_by_saying_its_own_again(tmp_path: Path) -> None:
    with serving(tmp_path / "data") as daemon, pairing(daemon.data) as command, pairing(daemon.data) as other:
        used, kept = command.until("code "), other.until("code ")
        assert say(daemon, used)["type"] == "paired"
        for _ in range(6):
            assert say(daemon, used)["code"] == "unauthenticated"
        assert say(daemon, kept)["type"] == "paired"


def test_where_the_network_reads_along_the_command_says_so(tmp_path: Path) -> None:
    with serving(tmp_path / "data", "--host", "0.0.0.0", "--allow-plaintext") as daemon:
        with pairing(daemon.data) as command:
            command.until("Waiting ")
        assert "The link is not encrypted: who listens in on the network reads the code" in command.said
        with pairing(daemon.data, "--url", "https://way.example.org") as command:
            command.until("Waiting ")
        assert "not encrypted" not in command.said
        assert '"plaintext"' in daemon.log()


def test_without_a_daemon_it_says_what_to_do(tmp_path: Path) -> None:
    ran = waybread("pair", "phone", "--data", tmp_path)
    assert (ran.status, ran.out) == (1, "")
    assert ran.err.startswith(
        f"waybread: no daemon runs with the data folder {tmp_path}: start one with `waybread serve"
    )


def test_an_unknown_device_is_refused(tmp_path: Path) -> None:
    with serving(tmp_path / "data") as daemon:
        assert waybread("pair", "--device", "none", "--data", daemon.data) == (
            1,
            "",
            "waybread: there is no device with the id 'none': `waybread device list` shows them\n",
        )
        long = waybread("pair", "--device", "x" * 5000, "--data", daemon.data)
        assert (long.status, long.out) == (1, "")
        assert long.err.startswith("waybread: there is no device with the id 'xxx")
        assert len(long.err) < 200


@pytest.mark.parametrize(
    "words",
    [
        ["a\nb"],
        ["x" * 129],
        ["  "],
        ["--role", "owner"],
        ["--url", "way.example"],
        ["--url", "ftp://x"],
        ["--device", ""],
    ],
)
def test_wrong_words_are_wrong_usage(tmp_path: Path, words: list[str]) -> None:
    ran = waybread("pair", *words, "--data", tmp_path)
    assert (ran.status, ran.out) == (2, "")
    assert ran.err.startswith("usage: waybread pair")


def test_with_tls_the_certificates_fingerprint_is_shown_and_in_the_qr_codes_address(tmp_path: Path) -> None:
    data, cert, key = tmp_path / "data", tmp_path / "cert.pem", tmp_path / "key.pem"
    data.mkdir()
    issued = trustme.CA().issue_cert("localhost", "127.0.0.1")
    issued.cert_chain_pems[0].write_to_path(cert)
    issued.private_key_pem.write_to_path(key)
    (data / "waybread.toml").write_text(f'tls_cert = "{cert}"\ntls_key = "{key}"\n')
    der = ssl.PEM_cert_to_DER_cert(issued.cert_chain_pems[0].bytes().decode())
    digest = hashlib.sha256(der).hexdigest()
    with serving(data) as daemon:
        with pairing(data, "--json") as command:
            offer = json.loads(command.line())
        port = offer["link"].rpartition(":")[2].removesuffix("/link")
        # The same certificate by another name; a place where another one is served, or none.
        with pairing(data, "--json", "--url", f"https://localhost:{port}") as command:
            assert json.loads(command.line())["fingerprint"] == digest
        with pairing(data, "--json", "--url", "https://127.0.0.1:1") as command:
            elsewhere = json.loads(command.line())
        assert elsewhere["fingerprint"] == ""
        assert elsewhere["page"] == f"https://127.0.0.1:1/#pair={elsewhere['code'].replace('-', '')}"
        plain = waybread("pair", "--url", f"http://127.0.0.1:{port}", "--data", data)
        assert (plain.status, plain.out) == (1, "")
        assert plain.err.startswith(
            f"waybread: the daemon encrypts, and over http://127.0.0.1:{port} the code would go"
        )
        assert daemon.process.poll() is None
        with pairing(data) as command:
            assert command.until("link ").startswith("wss://127.0.0.1:")
            shown = command.until("certificate ")
    assert offer["fingerprint"] == digest
    assert offer["page"].startswith("https://127.0.0.1:")
    assert offer["page"].endswith(f"/#pair={offer['code'].replace('-', '')}&fp={digest}")
    assert shown == "SHA-256 " + ":".join(digest[at : at + 2].upper() for at in range(0, 64, 2))
