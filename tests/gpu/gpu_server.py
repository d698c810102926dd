"""Starts a server on a GPU for tests, and stops it afterwards."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

from stdio_client import StdioClient

ROOT = Path(__file__).resolve().parent.parent.parent


def serve(store: Path, *options: str) -> Iterator[StdioClient]:
    binary = os.environ.get("ASSAY_BIN", str(ROOT / "build/release/bin/assay"))
    client = StdioClient(
        [binary, "serve", "--stdio", "--device", "cuda:0", "--store", str(store), *options]
    )
    yield client
    client.close()
    assert client.process.returncode == 0
