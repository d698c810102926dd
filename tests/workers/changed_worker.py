"""Runs a worker and changes what it says, for tests of the server.

    python changed_worker.py '{"hello": {"assay": "0.1"}}' assay worker --device fake

The first argument is a JSON object with any of these members: `hello` (fields that replace those of
the hello and of its objects), `verdict` (fields that replace those of each verdict), `unchanged`
(so many verdicts stay as they are first), `silent` (true: after the hello nothing is passed on)."""

from __future__ import annotations

import json
import struct
import subprocess
import sys
from typing import IO, Any

PREFIX = struct.Struct("<4sIQ")  # docs/reference/frames.md


def read_frame(stream: IO[bytes]) -> tuple[dict[str, Any], bytes] | None:
    prefix = stream.read(PREFIX.size)
    if len(prefix) < PREFIX.size:
        return None
    _, header_bytes, payload_bytes = PREFIX.unpack(prefix)
    return json.loads(stream.read(header_bytes)), stream.read(payload_bytes)


def write_frame(stream: IO[bytes], header: dict[str, Any], payload: bytes) -> None:
    text = json.dumps(header).encode()
    stream.write(PREFIX.pack(b"ASY1", len(text), len(payload)) + text + payload)
    stream.flush()


def main() -> None:
    change = json.loads(sys.argv[1])
    # The worker reads the server's messages itself.
    worker = subprocess.Popen(sys.argv[2:], stdout=subprocess.PIPE)
    assert worker.stdout is not None
    unchanged = change.get("unchanged", 0)
    while (frame := read_frame(worker.stdout)) is not None:
        header, payload = frame
        if header["type"] == "hello":
            for name, value in change.get("hello", {}).items():
                header[name] = {**header[name], **value} if isinstance(value, dict) else value
        elif change.get("silent"):
            continue
        elif header["type"] == "verdict" and "verdict" in change:
            unchanged -= 1
            if unchanged < 0:
                payload = json.dumps(json.loads(payload) | change["verdict"]).encode()
        write_frame(sys.stdout.buffer, header, payload)
    sys.exit(worker.wait())


if __name__ == "__main__":
    main()
