"""The other way to call a tool: an echo behind the official MCP SDK, on standard input and output."""

from __future__ import annotations

from importlib import import_module
from typing import Any

# Found by name: the SDK is an extra, and the checkers run without it.
_SERVER: Any = import_module("mcp.server").MCPServer


def echo(text: str) -> str:
    """Gives back what it is given."""
    return text


if __name__ == "__main__":
    server = _SERVER("echo")
    server.tool()(echo)
    server.run(transport="stdio")
