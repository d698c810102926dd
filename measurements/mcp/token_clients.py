"""Provides clients of an HTTP server, each with a token of its own, for measurements with many
clients.

    secrets = make_tokens(binary, folder / "tokens", 200)
    with serving(binary, folder, "--rate-limit", "0") as (process, port):
        connection = await Connection.open(port, secrets[0])
        status, message = await connection.call("run_tests", {"operator": ..., "code": ...})"""

from __future__ import annotations

import asyncio
import json
import re
import resource
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

PROTOCOL = "2026-07-28"
META = {
    "io.modelcontextprotocol/protocolVersion": PROTOCOL,
    "io.modelcontextprotocol/clientCapabilities": {},
    "io.modelcontextprotocol/clientInfo": {"name": "measurement", "version": "1"},
}
DESCRIPTORS = 8_192


def make_tokens(binary: str, file: Path, count: int) -> list[str]:
    """Writes a token file with the clients client0, client1 and so on. Returns their secrets."""
    secrets = []
    with file.open("w") as out:
        for number in range(count):
            command = [binary, "token", "new", "--name", f"client{number}"]
            command += ["--scope", "practice", "--scope", "score"]
            made = subprocess.run(command, capture_output=True, text=True, check=True)
            out.write(made.stdout)
            secrets.append(re.findall(r"assay_[0-9a-z]{26}", made.stderr)[0])
    file.chmod(0o600)
    return secrets


@contextmanager
def serving(
    binary: str, folder: Path, *options: str
) -> Iterator[tuple[subprocess.Popen[str], int]]:
    """Starts a server on the device `fake` with the token file of `folder`. Yields the process and
    the port."""
    hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    resource.setrlimit(resource.RLIMIT_NOFILE, (min(DESCRIPTORS, hard), hard))
    command = [
        binary, "serve", "--http", "127.0.0.1:0", "--device", "fake", "--token-file",
        str(folder / "tokens"), "--store", str(folder / "assay.db"), "--log-file",
        str(folder / "log"), *options,
    ]  # fmt: skip
    process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
    try:
        assert process.stderr is not None
        found = None
        while found is None:
            line = process.stderr.readline()
            if not line:
                raise SystemExit("the server did not start")
            found = re.search(r"http://[^ ]*?:(\d+)", line)
        yield process, int(found[1])
    finally:
        process.terminate()
        process.wait()


class Connection:
    """One connection of a client. It carries one request at a time."""

    def __init__(
        self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, secret: str
    ) -> None:
        self.reader, self.writer, self.secret = reader, writer, secret

    @classmethod
    async def open(cls, port: int, secret: str) -> Connection:
        return cls(*await asyncio.open_connection("127.0.0.1", port), secret)

    def close(self) -> None:
        self.writer.close()

    async def call(self, tool: str, arguments: dict[str, Any]) -> tuple[int, dict[str, Any]]:
        """Calls a tool. Returns the HTTP status and the result or the error."""
        params = {"name": tool, "arguments": arguments, "_meta": META}
        headers = {"Mcp-Protocol-Version": PROTOCOL, "Mcp-Method": "tools/call", "Mcp-Name": tool}
        return await self.post("tools/call", params, headers)

    async def post(
        self, method: str, params: dict[str, Any], headers: dict[str, str]
    ) -> tuple[int, dict[str, Any]]:
        body = json.dumps({"jsonrpc": "2.0", "id": 1, "method": method, "params": params}).encode()
        lines = {
            "Host": "127.0.0.1",
            "Content-Type": "application/json",
            "Accept": "application/json, text/event-stream",
            "Authorization": f"Bearer {self.secret}",
            "Content-Length": str(len(body)),
            **headers,
        }
        head = "".join(f"{name}: {value}\r\n" for name, value in lines.items())
        self.writer.write(f"POST /mcp HTTP/1.1\r\n{head}\r\n".encode() + body)
        status, text = await self._answer()
        data = [line[5:] for line in text.decode().splitlines() if line.startswith("data:")]
        message = json.loads(data[-1] if data else text or "{}")
        result: dict[str, Any] = message.get("result", message)
        return status, result

    async def _answer(self) -> tuple[int, bytes]:
        head = (await self.reader.readuntil(b"\r\n\r\n")).decode()
        status = int(head.split(" ", 2)[1])
        length = re.search(r"(?i)content-length: (\d+)", head)
        if length:
            return status, await self.reader.readexactly(int(length[1]))
        text = b""
        while size := int((await self.reader.readuntil(b"\r\n")).strip() or b"0", 16):
            text += await self.reader.readexactly(size)
            await self.reader.readexactly(2)
        await self.reader.readexactly(2)
        return status, text
