"""The peer that the benchmarks measure for the official Python SDK: tools echo and park, as its examples write them."""

import os
import socket
import sys
import time

import anyio
from mcp.server import MCPServer

marks = os.environ.get("ANDON_MARKS") == "1"
mcp = MCPServer("andon-peer-python", log_level="WARNING")  # a line for every request would be on the clock


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


def serve_http(port: int) -> None:
    """Stateless, and without json_response: quick calls get JSON all the same, and only so is a disconnect a cancel."""
    import uvicorn  # not on the clock of a start on stdio

    app = mcp.streamable_http_app(stateless_http=True)
    with socket.create_server(("127.0.0.1", port), backlog=2048) as listener:
        sys.stderr.write(f"listening on http://127.0.0.1:{listener.getsockname()[1]}/mcp\n")
        uvicorn.Server(uvicorn.Config(app, log_level=mcp.settings.log_level.lower())).run(sockets=[listener])


if __name__ == "__main__":
    if sys.argv[1:2] == ["--http"]:
        serve_http(int(sys.argv[2]))
    else:
        mcp.run()
