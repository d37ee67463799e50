import asyncio
import shlex
import subprocess
from pathlib import Path

import pytest

from tests.daemon.cli.pairing import pairing, say
from tests.daemon.cli.support import PROGRAM, Ran, environment, serving, waybread
from tests.daemon.wire import greeted
from waybread_client import Denied, Link
from waybread_daemon.link.accounts import token_id


def device(data: Path, *words: str) -> Ran:
    return waybread("device", *words, "--data", data)


def add(data: Path, *words: str) -> dict[str, str]:
    made: dict[str, str] = device(data, "add", *words, "--json").objects()[0]
    return made


def role_of(url: str, token: str) -> str:
    async def ask() -> str:
        async with Link(url, token) as link:
            return link.welcome.role

    return asyncio.run(ask())


def test_adding_prints_id_name_role_and_token_once(tmp_path: Path) -> None:
    ran = device(tmp_path, "add", "phone")
    assert (ran.status, ran.err) == (0, "")
    words = [line.split() for line in ran.out.splitlines()]
    assert [pair[0] for pair in words[:4]] == ["device", "name", "role", "token"]
    token = words[3][1]
    assert ran.out.count(token) == 1
    assert ran.out.endswith("Give the token to the device now: it is not shown again.\n")
    secret = token.partition(".")[2]
    assert len(secret) == 43
    assert secret not in device(tmp_path, "list").out
    assert secret.encode() not in b"".join(file.read_bytes() for file in tmp_path.iterdir())


def test_json_of_adding_has_the_four_fields(tmp_path: Path) -> None:
    made = add(tmp_path, "lap top", "--role", "viewer")
    assert made.keys() == {"device", "name", "role", "token"}
    assert (made["name"], made["role"]) == ("lap top", "viewer")


@pytest.mark.parametrize("role", ["device", "agent", "viewer"])
def test_a_token_made_while_the_daemon_runs_links_with_its_role(tmp_path: Path, role: str) -> None:
    with serving(tmp_path / "data") as daemon:
        assert role_of(daemon.url, daemon.device(role=role)["token"]) == role


def test_a_further_token_is_of_the_same_device_which_keeps_its_name(tmp_path: Path) -> None:
    first = add(tmp_path, "phone")
    second = add(tmp_path, "--device", first["device"], "--role", "viewer")
    third = add(tmp_path, "another name", "--device", first["device"], "--role", "agent")
    assert [made["device"] for made in (second, third)] == [first["device"]] * 2
    assert [made["name"] for made in (second, third)] == ["phone"] * 2
    (listed,) = device(tmp_path, "list", "--json").objects()
    assert [token["role"] for token in listed["tokens"]] == ["device", "viewer", "agent"]


def test_the_list_shows_public_ids_roles_and_times(tmp_path: Path) -> None:
    with serving(tmp_path / "data") as daemon:
        phone, laptop = daemon.device("phone"), daemon.device("laptop", "viewer")
        role_of(daemon.url, phone["token"])
    device(daemon.data, "revoke", laptop["device"])
    seen, unseen = device(daemon.data, "list", "--json").objects()
    assert (seen["device"], seen["name"]) == (phone["device"], "phone")
    assert seen["tokens"][0]["token"] == phone["token"].partition(".")[0]
    assert seen["tokens"][0]["seen_ms"] >= seen["tokens"][0]["made_ms"] > 0
    assert seen["tokens"][0]["revoked_ms"] == 0
    assert unseen["tokens"][0]["seen_ms"] == 0
    assert unseen["tokens"][0]["revoked_ms"] > 0
    lines = device(daemon.data, "list").out.splitlines()
    assert lines[0].split() == ["DEVICE", "NAME", "TOKEN", "ROLE", "MADE", "LAST", "SEEN", "REVOKED", "TOKEN", "NAME"]
    assert lines[1].split()[:4] == [phone["device"], "phone", phone["token"].partition(".")[0], "device"]
    assert "never" in lines[2]


def test_of_several_phones_on_one_device_the_list_and_revoke_tell_which_is_which(tmp_path: Path) -> None:
    with serving(tmp_path / "data") as daemon:
        laptop = daemon.device("laptop")
        made: dict[str, str] = {}
        for given, said, name in [
            ([], "Anna's phone", "Anna's phone"),
            ([], "Ben's \x1b[31mphone", "Ben's \\x1b[31mphone"),
            (["Carla's phone"], "iPhone", "Carla's phone"),
        ]:
            with pairing(daemon.data, *given, "--device", laptop["device"], "--role", "viewer") as command:
                made[name] = token_id(say(daemon, command.until("code "), said)["token"])
        added = add(daemon.data, "the old tablet", "--device", laptop["device"])
        made["the old tablet"] = token_id(added["token"])
        (listed,) = device(daemon.data, "list", "--json").objects()
        assert {token["name"]: token["token"] for token in listed["tokens"]} == {"": token_id(laptop["token"]), **made}
        lines = device(daemon.data, "list").out.splitlines()
        assert {line[lines[0].index("TOKEN NAME") :]: line.split()[2] for line in lines[2:]} == made
        ben = made["Ben's \\x1b[31mphone"]
        assert device(daemon.data, "revoke", ben) == (0, f"revoked {ben} (Ben's \\x1b[31mphone)\n", "")


def test_an_empty_list_says_how_to_begin(tmp_path: Path) -> None:
    with serving(tmp_path / "data"):
        ran = device(tmp_path / "data", "list")
    assert ran == (0, "There are no devices yet: `waybread device add NAME` makes one.\n", "")


def test_renaming_is_seen_by_the_list(tmp_path: Path) -> None:
    made = add(tmp_path, "phone")
    ran = device(tmp_path, "rename", made["device"], "old phone")
    assert ran == (0, f"{made['device']} is now called old phone.\n", "")
    assert device(tmp_path, "list", "--json").objects()[0]["name"] == "old phone"


def test_revoking_a_device_revokes_all_its_tokens_and_no_other(tmp_path: Path) -> None:
    first = add(tmp_path, "phone")
    second = add(tmp_path, "--device", first["device"])
    other = add(tmp_path, "laptop")
    ids = [made["token"].partition(".")[0] for made in (first, second, other)]
    ran = device(tmp_path, "revoke", first["device"], "--json")
    assert sorted(ran.objects()[0]["revoked"]) == sorted(ids[:2])
    listed = [token for one in device(tmp_path, "list", "--json").objects() for token in one["tokens"]]
    assert {token["token"] for token in listed if not token["revoked_ms"]} == {ids[2]}


def test_one_token_can_be_revoked_alone_and_a_second_time_does_nothing(tmp_path: Path) -> None:
    first = add(tmp_path, "phone")
    add(tmp_path, "--device", first["device"])
    token = first["token"].partition(".")[0]
    assert device(tmp_path, "revoke", token) == (0, f"revoked {token}\n", "")
    assert device(tmp_path, "revoke", token) == (0, f"{token} had no token left to revoke.\n", "")
    (listed,) = device(tmp_path, "list", "--json").objects()
    assert [bool(one["revoked_ms"]) for one in listed["tokens"] if one["token"] == token] == [True]
    assert [bool(one["revoked_ms"]) for one in listed["tokens"] if one["token"] != token] == [False]


def test_a_revoked_token_links_no_more(tmp_path: Path) -> None:
    with serving(tmp_path / "data") as daemon:
        made = daemon.device()
        device(daemon.data, "revoke", made["device"])
        with pytest.raises(Denied) as caught:
            role_of(daemon.url, made["token"])
    assert caught.value.code == 4401


def test_an_unknown_id_is_refused_with_what_to_do(tmp_path: Path) -> None:
    made = add(tmp_path, "phone")
    assert device(tmp_path, "revoke", "phone") == (
        1,
        "",
        (
            "waybread: there is no device or token with the id 'phone': "
            f"the id of the device of that name is {made['device']}\n"
        ),
    )
    assert device(tmp_path, "rename", "nobody", "x")[0] == 1
    assert device(tmp_path, "add", "x", "--device", "nobody")[0] == 1


@pytest.mark.parametrize("name", ["", "   ", "a\nb", "\x1b[2J", "x" * 129])
def test_a_name_that_cannot_be_shown_is_wrong_usage(tmp_path: Path, name: str) -> None:
    for words in (["add", name], ["rename", "an id", name]):
        ran = device(tmp_path / "data", *words)
        assert (ran.status, ran.out) == (2, "")
        assert "error: argument NAME: a device's name has 1 to 128 characters" in ran.err
    assert not (tmp_path / "data").exists()


def test_a_new_device_without_a_name_is_wrong_usage_and_makes_nothing(tmp_path: Path) -> None:
    ran = device(tmp_path / "data", "add")
    assert (ran.status, ran.out) == (2, "")
    assert ran.err.startswith("usage: waybread device add")
    assert ran.err.endswith("a new device needs a NAME; a further token of one needs --device ID\n")
    assert not (tmp_path / "data").exists()


@pytest.mark.parametrize(
    "words",
    [
        *([], ["ad", "phone"], ["add", "phone", "--role", "admin"], ["add", "phone", "pad"], ["add", "x", "--device"]),
        *(["rename"], ["rename", "x"], ["rename", "x", "y", "z"], ["revoke"], ["revoke", "x", "y"], ["list", "x"]),
        *(["add", "phone", "--data", ""], ["list", "--role", "viewer"]),
    ],
)
def test_wrong_usage_has_status_2(tmp_path: Path, words: list[str]) -> None:
    ran = waybread("device", *words)
    assert (ran.status, ran.out) == (2, "")


@pytest.mark.parametrize("action", ["add", "list", "rename", "revoke"])
def test_every_action_has_help_with_an_example(action: str) -> None:
    ran = waybread("device", action, "--help")
    assert (ran.status, ran.err) == (0, "")
    assert f"  waybread device {action}" in ran.out.partition("example")[2]


async def open_a_session(url: str, token: str) -> None:
    async with Link(url, token) as link:
        await (await link.open("s", "agent")).result("bash", {}, "out")


@pytest.mark.parametrize("running", [True, False])
def test_a_deleted_device_is_gone_with_its_sessions_and_tokens_and_another_stays(tmp_path: Path, running: bool) -> None:
    data = tmp_path / "data"
    with serving(data) as daemon:
        lost, kept = daemon.device("lost"), daemon.device("kept")
        asyncio.run(open_a_session(daemon.url, lost["token"]))
        asyncio.run(open_a_session(daemon.url, kept["token"]))
        if running:
            assert device(data, "delete", lost["device"], "--yes", "--json").objects() == [
                {"device": lost["device"], "name": "lost", "sessions": 1, "freed_bytes": None}
            ]
    if not running:
        ran = device(data, "delete", lost["device"], "--yes")
        assert (ran.status, ran.err) == (0, "")
        assert ran.out.startswith(f"{lost['device']} (lost) is deleted, with its 1 sessions. The store is ")
    assert [one["device"] for one in device(data, "list", "--json").objects()] == [kept["device"]]
    assert [one["device"] for one in waybread("sessions", "--data", data, "--json").objects()] == [kept["device"]]
    with serving(data) as daemon:
        assert role_of(daemon.url, kept["token"]) == "device"
        with pytest.raises(Denied):
            role_of(daemon.url, lost["token"])


def test_a_live_link_of_a_deleted_device_ends_at_once(tmp_path: Path) -> None:
    async def linked_while_deleted(url: str, token: str, named: str) -> int | None:
        async with greeted(url, token) as wire:
            ran = await asyncio.to_thread(device, tmp_path / "data", "delete", named, "--yes")
            assert ran.out.endswith(
                "The daemon frees its space in the background, within some minutes; --wait waits for it.\n"
            )
            return await wire.close_code()

    with serving(tmp_path / "data") as daemon:
        made = daemon.device()
        assert asyncio.run(linked_while_deleted(daemon.url, made["token"], made["device"])) == 4403


def test_a_device_is_not_deleted_unless_that_is_said(tmp_path: Path) -> None:
    made = add(tmp_path, "phone")
    ran = device(tmp_path, "delete", made["device"])
    assert (ran.status, ran.out) == (1, "")
    assert ran.err.endswith("there is no terminal to ask on: say --yes\n")
    assert device(tmp_path, "delete", "phone", "--yes").err == (
        f"waybread: there is no device with the id 'phone': the id of the device of that name is {made['device']}\n"
    )
    assert len(device(tmp_path, "list", "--json").objects()) == 1


@pytest.mark.parametrize("output", [">/dev/full", ">&-"])
@pytest.mark.parametrize("words", [["lost"], ["lost", "--json"]])
def test_a_token_that_could_not_be_shown_is_revoked_and_the_command_says_so(
    tmp_path: Path, words: list[str], output: str
) -> None:
    command = shlex.join([*PROGRAM, "device", "add", *words, "--data", str(tmp_path)])
    ended = subprocess.run(
        ["/bin/sh", "-c", f"exec {command} {output}"], check=False, stderr=subprocess.PIPE, text=True, env=environment()
    )
    (device,) = waybread("device", "list", "--data", tmp_path, "--json").objects()
    assert ended.returncode == 1
    assert ended.stderr.startswith("waybread: the token could not be shown (")
    assert ended.stderr.endswith(f"make another one with `waybread device add --device {device['device']}`\n")
    assert ended.stderr.count("\n") == 1
    assert [bool(token["revoked_ms"]) for token in device["tokens"]] == [True]
