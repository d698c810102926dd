"""Provides `assay serve` to the tests of clients: as a command that a stdio client starts, or as a
running HTTP server."""

from __future__ import annotations

import re
import subprocess
import threading
from collections.abc import Iterator
from contextlib import contextmanager

from mcp_sessions import Target

START_TIMEOUT_S = 120.0
STOP_TIMEOUT_S = 120.0
PORT_TAKEN_STATUS = 71


class PortTaken(Exception):
    """Another process uses the port."""


@contextmanager
def serving(
    transport: str, binary: str, *options: str, address: str = "127.0.0.1:0"
) -> Iterator[Target]:
    """Yields a server for the transport stdio or http. An HTTP server listens on `address`; by
    default it chooses its own port. The end of the `with` block stops it. Raises PortTaken if
    another process uses the port."""
    if transport == "stdio":
        yield Target(command=(binary, "serve", "--stdio", *options))
        return
    process = subprocess.Popen(
        [binary, "serve", "--http", address, *options], stderr=subprocess.PIPE, text=True
    )
    log: list[str] = []
    listening = threading.Event()

    def read() -> None:
        assert process.stderr is not None
        for line in process.stderr:
            log.append(line)
            if "listening on" in line:
                listening.set()
        listening.set()

    reader = threading.Thread(target=read, daemon=True)
    reader.start()
    try:
        assert listening.wait(START_TIMEOUT_S), f"the server does not listen: {''.join(log)}"
        found = re.search(r"listening on (https?://\S+)", "".join(log))
        if not found and process.wait(STOP_TIMEOUT_S) == PORT_TAKEN_STATUS:
            raise PortTaken
        assert found, f"the server ended with status {process.wait(STOP_TIMEOUT_S)}: {''.join(log)}"
        yield Target(url=found.group(1))
    finally:
        process.terminate()
        try:
            status = process.wait(STOP_TIMEOUT_S)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
            raise
    assert status == 0, f"the server ended with status {status}: {''.join(log)}"
