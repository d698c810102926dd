"""Checks that `serve --stdio` writes only protocol messages to stdout while submissions run. Also
checks that the server answers the next request after any input."""

from __future__ import annotations

import json
import os
import subprocess
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

# The submissions in NOISE try to write this line to the server's stdout. They print, write
# to the descriptor, start a child that writes, reopen files of /proc, or die while writing. The
# entry function is correct, so a submission that does not die passes.
PATIENCE_S = 120.0  # the longest wait for an event that must come
FORGED = '{"jsonrpc":"2.0","id":1,"result":"forged"}'
HEAD = f"import os, sys, subprocess\nFORGED = {FORGED!r}\n"
KERNEL = """
import torch
import triton
import triton.language as tl

@triton.jit
def add_kernel(x, y, out, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offsets < n
    tl.store(out + offsets, tl.load(x + offsets, mask=mask) + tl.load(y + offsets, mask=mask), mask=mask)

def vector_add(x, y):
    out = torch.empty_like(x)
    add_kernel[(triton.cdiv(x.numel(), 1024),)](x, y, out, x.numel(), BLOCK=1024)
    return out
"""
NOISE = {
    "print": "print(FORGED, flush=True)",
    "descriptor": "os.write(1, FORGED.encode() + b'\\n')",
    "child": "subprocess.run(['/bin/sh', '-c', 'echo \"$0\"; echo \"$0\" >&2', FORGED])",
    "every_descriptor": """
for fd in range(256):
    try:
        os.write(fd, FORGED.encode() + b'\\n')
    except OSError:
        pass
""",
    "proc": """
for name in ('/proc/1/fd/1', '/dev/stdout', f'/proc/{os.getppid()}/fd/1', f'/proc/{os.getppid()}/fd/3'):
    try:
        open(name, 'w').write(FORGED + '\\n')
    except OSError:
        pass
""",
    "crash": "os.write(1, FORGED.encode() + b'\\n'); os.abort()",
    "segfault": "import ctypes; print(FORGED, flush=True); ctypes.string_at(0)",
}


class Stdio:
    """Runs a server with pipes for its three standard streams. Keeps every line of stdout
    unchanged."""

    def __init__(self, command: list[str]) -> None:
        self.process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE
        )
        self.lines: list[bytes] = []
        self.errors = b""
        self.arrived = threading.Condition()
        self.reader = threading.Thread(target=self._read, daemon=True)
        self.reader.start()
        self.logger = threading.Thread(target=self._log, daemon=True)
        self.logger.start()

    def _read(self) -> None:
        assert self.process.stdout is not None
        for line in self.process.stdout:
            with self.arrived:
                self.lines.append(line)
                self.arrived.notify_all()

    def _log(self) -> None:
        assert self.process.stderr is not None
        self.errors = self.process.stderr.read()

    def send(self, data: bytes) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write(data)
        self.process.stdin.flush()

    def request(self, identity: Any, method: str, **params: Any) -> None:
        self.send(
            json.dumps(
                {"jsonrpc": "2.0", "id": identity, "method": method, "params": params}
            ).encode()
            + b"\n"
        )

    def answer(self, identity: Any, timeout: float = PATIENCE_S) -> dict[str, Any]:
        def find() -> dict[str, Any] | None:
            return next(
                (
                    message
                    for message in map(json.loads, self.lines)
                    if message.get("id") == identity and "method" not in message
                ),
                None,
            )

        with self.arrived:
            assert self.arrived.wait_for(find, timeout), (identity, self.lines[-3:])
            found = find()
        assert found is not None
        return found

    def close(self) -> int:
        assert self.process.stdin is not None
        self.process.stdin.close()
        status = self.process.wait(timeout=PATIENCE_S)
        self.reader.join(timeout=PATIENCE_S)
        self.logger.join(timeout=PATIENCE_S)
        return status


@contextmanager
def serving(binary: str, store: Path, device: str) -> Iterator[Stdio]:
    server = Stdio(
        [binary, "serve", "--stdio", "--device", device, "--store", str(store / "assay.db")]
    )
    try:
        yield server
    finally:
        server.process.kill()
        server.process.wait()


@pytest.fixture
def server(binary: str, tmp_path: Path) -> Iterator[Stdio]:
    with serving(binary, tmp_path, "fake") as running:
        yield running
        assert running.close() == 0


def test_only_protocol_on_stdout_while_jobs_write_to_it(binary: str, tmp_path: Path) -> None:
    with serving(binary, tmp_path, "cpu") as server:
        for name, noise in NOISE.items():
            server.request(
                name,
                "tools/call",
                name="run_tests",
                arguments={"operator": "vector_add", "code": HEAD + noise + KERNEL},
            )
        answers = {name: server.answer(name) for name in NOISE}
        assert server.close() == 0
        seen = [json.loads(line) for line in server.lines]
        assert sorted(message["id"] for message in seen) == sorted(
            NOISE
        )  # each request is answered once, and there is no other line
        for name, answer in answers.items():
            assert answer["result"] != "forged", name
            assert isinstance(answer["result"]["structuredContent"], dict), name
        for name in ("print", "descriptor", "child", "proc"):
            assert answers[name]["result"]["structuredContent"]["error_kind"] == "none", answers[
                name
            ]
        for name in ("crash", "segfault"):
            assert answers[name]["result"]["structuredContent"]["error_kind"] != "none", name


def test_end_of_input_ends_the_server(binary: str, tmp_path: Path) -> None:
    with serving(binary, tmp_path, "fake") as server:
        assert server.close() == 0
        assert server.lines == []
    with serving(binary, tmp_path, "fake") as server:
        server.send(b'{"jsonrpc":"2.0","id":1,"method":"ping"}')  # without a final line break
        assert server.close() == 0
        assert [json.loads(line) for line in server.lines] == [
            {"jsonrpc": "2.0", "id": 1, "result": {}}
        ]


BAD_LINES = {
    "oversize": (
        b'{"jsonrpc":"2.0","id":1,"method":"ping","params":{"x":"' + b"y" * (5 << 20) + b'"}}',
        -32600,
    ),
    "invalid_utf8": (b'{"jsonrpc":"2.0","id":1,"method":"p\xff\xfeng"}', -32700),
    "lone_surrogate": (b'{"jsonrpc":"2.0","id":1,"method":"\\ud800"}', -32700),
    "nul": (b'{"jsonrpc":"2.0","id":1,\x00"method":"ping"}', -32700),
    "only_nul": (b"\x00" * 1000, -32700),
    "deep": (
        b'{"jsonrpc":"2.0","id":1,"method":"ping","params":'
        + b'{"x":' * 100_000
        + b"1"
        + b"}" * 100_000
        + b"}",
        -32600,
    ),
    "deep_and_open": (b"[" * 1_000_000, -32600),
    "number": (b"1e999999", -32700),
    "batch": (b'[{"jsonrpc":"2.0","id":1,"method":"ping"}]', -32600),
    "null_id": (b'{"jsonrpc":"2.0","id":null,"method":"ping"}', -32600),
    "huge_id": (b'{"jsonrpc":"2.0","id":1' + b"0" * 400 + b',"method":"ping"}', -32700),
    "no_method": (b'{"jsonrpc":"2.0","id":1}', -32600),
    "params_array": (b'{"jsonrpc":"2.0","id":1,"method":"ping","params":[]}', -32600),
}


@pytest.mark.parametrize("name", BAD_LINES)
def test_a_bad_line_is_refused_and_the_next_is_answered(server: Stdio, name: str) -> None:
    line, code = BAD_LINES[name]
    server.send(line + b"\n")
    server.request("after", "ping")
    assert server.answer("after")["result"] == {}
    assert len(server.lines) == 2
    assert json.loads(server.lines[0])["error"]["code"] == code


def test_duplicate_ids_are_answered_as_often_as_they_were_asked(server: Stdio) -> None:
    for _ in range(5):
        server.request(7, "ping")
        server.request(7, "tools/call", name="list_operators", arguments={})
    server.request("last", "ping")
    server.answer("last")
    with server.arrived:
        assert server.arrived.wait_for(lambda: len(server.lines) == 11, PATIENCE_S)


def test_ten_thousand_pipelined_requests(server: Stdio) -> None:
    count = 10_000
    writer = threading.Thread(
        target=lambda: server.send(
            b"".join(b'{"jsonrpc":"2.0","id":%d,"method":"ping"}\n' % i for i in range(count))
        ),
        daemon=True,
    )
    writer.start()
    server.answer(count - 1)
    with server.arrived:
        assert server.arrived.wait_for(lambda: len(server.lines) == count, PATIENCE_S)
    assert sorted(json.loads(line)["id"] for line in server.lines) == list(range(count))


def test_a_client_that_never_reads_blocks_only_itself(binary: str, tmp_path: Path) -> None:
    """Checks a client that never reads. When the pipe to the client is full, the server waits and
    reads no more input, so its memory stays bounded. The server still exits when its input
    ends."""
    command = [
        binary,
        "serve",
        "--stdio",
        "--device",
        "fake",
        "--store",
        str(tmp_path / "assay.db"),
    ]
    process = subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
    )
    assert process.stdin is not None
    assert process.stdout is not None
    os.set_blocking(process.stdin.fileno(), False)
    line = b'{"jsonrpc":"2.0","id":1,"method":"tools/list"}\n'
    sent = 0
    idle = 0
    while idle < 20 and sent < (64 << 20):
        try:
            sent += os.write(process.stdin.fileno(), line * 100)
            idle = 0
        except BlockingIOError:
            idle += 1
            threading.Event().wait(0.05)
    assert sent < (1 << 20), "the server went on reading what it could not answer"
    status = Path(f"/proc/{process.pid}/status").read_text()
    resident = next(
        int(entry.split()[1]) for entry in status.splitlines() if entry.startswith("VmRSS")
    )
    assert resident < 200_000, f"{resident} KiB resident"
    process.stdout.close()
    process.stdin.close()
    assert process.wait(timeout=PATIENCE_S) == 0
