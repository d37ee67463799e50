"""Beside the limits: what a tool call costs through the official MCP SDK, which a user would otherwise pick."""

from __future__ import annotations

import importlib.util
import json
import subprocess
import sys

from tests.bench.children import ROOT
from tests.bench.figures import Figure, Rounds, median
from tests.bench.messages import MESSAGE_BYTES, Messages, alone, hello
from tests.bench.room import Room

_CALLS = 200


def echo(room: Room) -> list[Figure]:
    """A durable insert of 4 KB against an echo of 4 KB through the SDK over stdio, both one at a time."""
    what = "a durable insert, against an echo tool through the MCP SDK over stdio: p50"
    if importlib.util.find_spec("mcp") is None:
        return [Figure("echo", what, 1, None, skipped="the MCP SDK is not installed here: the extra `bench` brings it")]
    daemon, load = room.daemon(), room.load()
    messages = Messages("echo")
    load.open("link", daemon.url, [hello(daemon.token()), messages.opening()])
    client = subprocess.Popen(
        [sys.executable, "-m", "tests.bench.programs.echo_client"],
        cwd=ROOT,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    try:
        rounds = Rounds()
        for _ in range(room.rounds):
            rounds.add("insert", median(load.latencies_s("link", alone(messages.many(_CALLS)))))
            rounds.add("echo", median(_echoes(client)))
    finally:
        client.communicate()
    return [Figure("echo", what, 1, rounds.ratio("insert", "echo"), raw=rounds.raw("ms", 1e3))]


def _echoes(client: subprocess.Popen[str]) -> list[float]:
    assert client.stdin is not None
    assert client.stdout is not None
    client.stdin.write(f"{_CALLS} {MESSAGE_BYTES}\n")
    client.stdin.flush()
    taken: list[float] = json.loads(client.stdout.readline())
    return taken
