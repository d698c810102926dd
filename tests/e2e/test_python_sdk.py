"""The official Python client against the real server: both transports, both eras.

The server is `assay` from ASSAY_BIN, by default build/release/bin/assay. Runs under pytest and as a plain script.
"""

from __future__ import annotations

import asyncio
import os
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from mcp import Client, StdioServerParameters

ROOT = Path(__file__).resolve().parents[2]
ASSAY = os.environ.get("ASSAY_BIN", str(ROOT / "build/release/bin/assay"))
START_TIMEOUT_S = 20.0
MODES = ("auto", "legacy")


def server_arguments(*transport: str, store: Path) -> list[str]:
    """The arguments after the program's name."""
    return ["serve", *transport, "--device", "fake", "--store", str(store)]


def free_port() -> int:
    """A port that was free a moment ago."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


@contextmanager
def http_server(store: Path) -> Iterator[str]:
    """A running HTTP server; yields its URL and stops it afterwards."""
    port = free_port()
    process = subprocess.Popen([ASSAY, *server_arguments("--http", f"127.0.0.1:{port}", store=store)])
    try:
        deadline = time.monotonic() + START_TIMEOUT_S
        while True:
            assert process.poll() is None, f"the server ended with status {process.returncode}"
            try:
                socket.create_connection(("127.0.0.1", port), timeout=1).close()
                break
            except OSError:
                assert time.monotonic() < deadline, "the server does not listen"
                time.sleep(0.02)
        yield f"http://127.0.0.1:{port}/mcp"
    finally:
        process.terminate()
        try:
            process.wait(10)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
            raise


async def use_tools(server: StdioServerParameters | str, mode: str) -> None:
    """Lists the tools and calls two of them, as any agent does first."""
    async with Client(server, mode=mode, read_timeout_seconds=30) as client:
        assert client.protocol_version == ("2026-07-28" if mode == "auto" else "2025-11-25")
        assert client.server_info is not None and client.server_info.name == "assay"
        listed = await client.list_tools()
        names = [tool.name for tool in listed.tools]
        assert {"list_operators", "fetch_spec"} <= set(names), names
        assert len(names) == len(set(names)) <= 20
        assert all(tool.description for tool in listed.tools)

        operators = await client.call_tool("list_operators", {})
        assert not operators.is_error
        assert "vector_add" in operators.content[0].text  # type: ignore[union-attr]
        assert operators.structured_content

        spec = await client.call_tool("fetch_spec", {"operator": "vector_add"})
        assert not spec.is_error
        assert "vector_add" in spec.content[0].text  # type: ignore[union-attr]
        assert spec.structured_content

        unknown = await client.call_tool("fetch_spec", {"operator": "no_such_operator"})
        assert unknown.is_error
        bad = await client.call_tool("fetch_spec", {"operatr": "vector_add"})
        assert bad.is_error and "operatr" in bad.content[0].text  # type: ignore[union-attr]


@pytest.mark.parametrize("mode", MODES)
def test_stdio(mode: str, tmp_path: Path) -> None:
    parameters = StdioServerParameters(command=ASSAY, args=server_arguments("--stdio", store=tmp_path / "assay.db"))
    asyncio.run(use_tools(parameters, mode))


@pytest.mark.parametrize("mode", MODES)
def test_http(mode: str, tmp_path: Path) -> None:
    with http_server(tmp_path / "assay.db") as url:
        asyncio.run(use_tools(url, mode))


def test_two_clients_of_both_eras_share_one_server(tmp_path: Path) -> None:
    async def both(url: str) -> None:
        await asyncio.gather(*(use_tools(url, mode) for mode in MODES))

    with http_server(tmp_path / "assay.db") as url:
        asyncio.run(both(url))


def main() -> int:
    """Runs every case without pytest."""
    with tempfile.TemporaryDirectory() as folder:
        for mode in MODES:
            test_stdio(mode, Path(folder))
            test_http(mode, Path(folder))
        test_two_clients_of_both_eras_share_one_server(Path(folder))
    print("python sdk: ok")
    return 0


if __name__ == "__main__":
    sys.exit(main())
