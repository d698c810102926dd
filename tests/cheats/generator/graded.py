"""Sends sources to a real server as graded submissions.

with Graded(binary, "cpu") as server:
    verdict = server.submit(operator, source)
"""

from __future__ import annotations

import os
import sys
import tempfile
from pathlib import Path
from types import TracebackType
from typing import Any

ROOT = Path(__file__).resolve().parents[3]
for folder in ("measurements", "tests/common"):
    if str(ROOT / folder) not in sys.path:
        sys.path.insert(0, str(ROOT / folder))

from stdio_client import StdioClient, serve_command  # noqa: E402
from tool_calls import verdict_of  # noqa: E402

IMPORT_WALL_MS, RUN_WALL_MS, MEMORY_MIB = 20_000, 90_000, 2048
LIMITS = (
    *("--import-wall-ms", str(IMPORT_WALL_MS)),
    *("--run-wall-ms", str(RUN_WALL_MS)),
    *("--memory-mib", str(MEMORY_MIB)),
    *("--log-level", "error"),
)


class Graded:
    """An `assay serve --stdio` process with its own store and one practice run. Not
    thread-safe."""

    def __init__(self, binary: str, device: str) -> None:
        self._folder = tempfile.TemporaryDirectory(prefix="cheat-generator-")
        folder = Path(self._folder.name)
        tier = () if device == "cpu" else ("--no-host-tier",)
        self._client = StdioClient(
            serve_command(binary, device, folder / "assay.db", *LIMITS, *tier),
            env={**os.environ, "ASSAY_STATE_DIR": str(folder / "state")},
        )
        started = self._client.call(
            "start_run", {"agent": "cheat-generator", "model": "none", "track": "practice"}
        )
        self._run: str = started["structuredContent"]["run"]

    def submit(self, operator: str, source: str) -> dict[str, Any]:
        arguments = {"operator": operator, "code": source, "language": "python", "run": self._run}
        return verdict_of(self._client, "submit", arguments)

    def __enter__(self) -> Graded:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        try:
            self._client.close()
        finally:
            self._folder.cleanup()
