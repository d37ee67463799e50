"""Calls the echo tool through the official MCP SDK, and prints each call's seconds as a JSON list.

`python -m tests.bench.programs.echo_client` reads lines "CALLS BYTES".
"""

from __future__ import annotations

import asyncio
import json
import sys
import time
from importlib import import_module
from typing import Any

from tests.bench.texts import log_text

_MCP: Any = import_module("mcp")


async def _main() -> None:
    command = _MCP.StdioServerParameters(command=sys.executable, args=["-m", "tests.bench.programs.echo_server"])
    async with _MCP.stdio_client(command) as (reads, writes), _MCP.ClientSession(reads, writes) as session:
        await session.initialize()
        loop = asyncio.get_running_loop()
        while line := await loop.run_in_executor(None, sys.stdin.readline):
            calls, size_bytes = map(int, line.split())
            text = log_text(size_bytes)
            taken: list[float] = []
            for _ in range(calls):
                begin = time.perf_counter()
                answer = await session.call_tool("echo", {"text": text})
                taken.append(time.perf_counter() - begin)
                if answer.content[0].text != text:
                    raise RuntimeError(f"the tool answered {answer}")
            print(json.dumps(taken), flush=True)


if __name__ == "__main__":
    asyncio.run(_main())
