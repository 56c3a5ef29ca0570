"""The peer that the benchmarks measure for the official Python SDK: tools echo and park, as its examples write them."""

import os
import sys
import time

import anyio
from mcp.server import MCPServer

marks = os.environ.get("ANDON_MARKS") == "1"
mcp = MCPServer("andon-peer-python")


def mark(what: str, key: str) -> None:
    """Tells the driver when something happened, on the clock that both read (monotonic_ns is CLOCK_MONOTONIC)."""
    if marks:
        sys.stderr.write(f"@{what} {key} {time.monotonic_ns()}\n")


@mcp.tool()
async def echo(text: str) -> str:
    """Sends the text back."""
    return text


@mcp.tool()
async def park(key: str) -> str:
    """Waits until it is cancelled."""
    mark("start", key)
    try:
        await anyio.sleep_forever()
    except anyio.get_cancelled_exc_class():
        mark("cancel", key)
        raise


if __name__ == "__main__":
    mcp.run()
