"""Starts one process of the real server for the suite of cheats, and starts one practice run on
this server."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from cheat_file import HERE, Case
from stdio_client import StdioClient
from tool_calls import verdict_of

ROOT = HERE.parent.parent
IMPORT_WALL_MS, RUN_WALL_MS, MEMORY_MIB = 8_000, 15_000, 1024
Results = dict[str, dict[str, Any]]

CONTROL = "def vector_add(x, y):\n    return honest_add(x, y)\n"


class CheatServer:
    """An `assay serve --stdio` process on `device`. Not thread-safe."""

    def __init__(
        self,
        binary: str,
        device: str,
        folder: Path,
        *options: str,
        control: bool = True,
        run_wall_ms: int = RUN_WALL_MS,
    ) -> None:
        """Without `control`, does not check that an honest submission passes. A GPU with the fake
        driver runs no kernel of a submission that can be recorded."""
        command = [
            binary,
            "serve",
            *options,
            "--stdio",
            "--device",
            device,
            "--store",
            str(folder / "assay.db"),
        ]
        command += [
            "--import-wall-ms",
            str(IMPORT_WALL_MS),
            "--run-wall-ms",
            str(run_wall_ms),
            "--memory-mib",
            str(MEMORY_MIB),
        ]
        self.client = StdioClient(
            command, env={**os.environ, "ASSAY_STATE_DIR": str(folder / "state")}
        )
        self.prelude = (HERE / "prelude.py").read_text(encoding="utf-8")
        started = self.client.call(
            "start_run", {"agent": "cheats", "model": "none", "track": "practice"}
        )
        self.run: str = started["structuredContent"]["run"]
        self._honest: dict[str, float] = {}
        if control:
            assert (seen := self.control())["outcome"] == "pass", seen

    def send(self, case: Case, tool: str = "") -> dict[str, Any]:
        """Sends the case as often as its header says. Returns the last verdict."""
        verdict: dict[str, Any] = {}
        for _ in range(case.calls):
            verdict = self._call(tool or case.tool, case.operator, case.source(), case.language)
        return verdict

    def send_source(self, operator: str, source: str) -> dict[str, Any]:
        return self._call("run_tests", operator, source)

    def control(self) -> dict[str, Any]:
        return self._call("run_tests", "vector_add", f"{self.prelude}\n\n{CONTROL}")

    def honest_perf(self, operator: str) -> float:
        """Returns the Perf that the operator's oracle gets as a submission."""
        if operator not in self._honest:
            oracle = next((ROOT / "operators").glob(f"*/{operator}/oracle.py")).read_text(
                encoding="utf-8"
            )
            verdict = self._call("submit", operator, oracle)
            assert verdict["outcome"] == "pass", verdict
            self._honest[operator] = float(verdict["perf"])
        return self._honest[operator]

    def _call(
        self, tool: str, operator: str, source: str, language: str = "python"
    ) -> dict[str, Any]:
        arguments = {"operator": operator, "code": source, "language": language}
        if tool == "submit":
            arguments["run"] = self.run
        return verdict_of(self.client, tool, arguments)

    def close(self) -> int:
        self.client.close()
        return int(self.client.process.returncode)
