"""Runs two servers whose suites differ only in their hidden cases. Collects everything that a
server tells about a submission, in a form that can be compared byte for byte.

    twins = Twins(binary, folder)
    first, second = twins.said(source)
    assert first == second
    twins.close()

Handles, times, and the seeds of public cases differ from run to run, so they are replaced. No other
text is replaced. Only in reports, the digest of the suite is replaced too: maintainers read them."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

from stdio_client import META, StdioClient

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent.parent
OPERATOR = "vector_add"
PATIENT_MS = 120_000  # a time limit that no candidate of a busy machine reaches by accident
IMPORT_WALL_MS, RUN_WALL_MS, MEMORY_MIB = 8_000, 5_000, 1024

# The hidden cases of the second suite. Both suites have the same number of hidden cases, and the
# interpreter can run the same number of them.
OTHER_HIDDEN = (
    ("unseen_a", "true", "float16", 778, "grid"),
    ("unseen_b", "true", "float32", 5003, "normal"),
    ("unseen_c", "false", "float16", 700001, "grid"),
    ("unseen_d", "false", "float32", 8388621, "normal"),
    ("unseen_e", "false", "float32", 12301, "cancellation"),
)
# Names and sizes of hidden cases of both suites. They must not occur in anything that a client
# gets.
SECRETS = ("unseen_.", "hidden_small", "hidden_half", "12289", "3001", "n778", "5003", "786433")

_HANDLE = re.compile(r"\b(run|job|artifact)_[A-Za-z0-9]{8,}")
_DIGEST = re.compile(r"(\bdigest\b\W{1,6}|,)(?:[0-9a-f]{64}|[0-9a-f]{12})\b")
_TIME = re.compile(r"(?<!\.)\b1\d{12}\b|\b\d+(\.\d+)? ?(ms|s)\b|\d{4}-\d\d-\d\d[T ][\d:.]+Z?")
_STAGES = re.compile(r"stages_ms=\S+")
_DECIMAL = re.compile(r"-?\d+(\.\d+)?e[-+]?\d+|-?\d+\.\d+")
_NUMBER = re.compile(r"-?\d+(\.\d+)?(e[-+]?\d+)?")
# The keys of values that are replaced: times, and values that depend on random public inputs.
_DRAWN_KEYS = ("elapsed_ms", "seeds", "float64_error", "sandbox_ms", "created", "expires")


def write_suites(folder: Path) -> tuple[Path, Path]:
    """Writes two suites, each with a copy of the operator. The second copy has other hidden
    cases."""
    source = next((ROOT / "operators").glob(f"*/{OPERATOR}"))
    suites = []
    for name in ("first", "second"):
        suites.append(folder / name)
        shutil.copytree(source, suites[-1] / source.parent.name / OPERATOR)
        (suites[-1] / "suite.toml").write_text('name = "twin"\n', encoding="utf-8")
    spec = suites[1] / source.parent.name / OPERATOR / "spec.toml"
    head, *cases = spec.read_text(encoding="utf-8").split("[[cases]]")
    public = [case for case in cases if 'visibility = "public"' in case]
    assert len(cases) - len(public) == len(OTHER_HIDDEN), "vector_add has other hidden cases now"
    hidden = [
        f"""
id = "{name}"
visibility = "hidden"
interpreter = {interpreter}
dtype = "{dtype}"
axes = {{ n = {n} }}
distribution = "{distribution}"

"""
        for name, interpreter, dtype, n, distribution in OTHER_HIDDEN
    ]
    spec.write_text("[[cases]]".join([head, *public, *hidden]), encoding="utf-8")
    return suites[0], suites[1]


def plain(said: Any, drawn: str = "") -> str:
    """Returns the text for the comparison. Some numbers depend on random public inputs, so they are
    replaced too: all numbers if `drawn` is `values`, and numbers with decimals if it is
    `decimals`."""

    def without_times(value: Any) -> Any:
        if isinstance(value, dict):
            return {
                key: "T" if key in _DRAWN_KEYS or key.endswith("_ms") else without_times(part)
                for key, part in value.items()
            }
        return [without_times(part) for part in value] if isinstance(value, list) else value

    text = said if isinstance(said, str) else json.dumps(without_times(said), sort_keys=True)
    text = _STAGES.sub("T", _TIME.sub("T", _HANDLE.sub(r"\1_X", text)))
    if drawn == "values":
        return _NUMBER.sub("N", text)
    return _DECIMAL.sub("F", text) if drawn == "decimals" else text


class Twin:
    """One server with one suite."""

    def __init__(self, binary: str, suite: Path, folder: Path) -> None:
        folder.mkdir()
        self.binary, self.suite, self.store = binary, suite, folder / "assay.db"
        self.log = folder / "log"
        command = [binary, "serve", "--stdio", "--device", "cpu", "--suite", str(suite)]
        command += ["--store", str(self.store), "--import-wall-ms", str(IMPORT_WALL_MS)]
        command += ["--run-wall-ms", str(RUN_WALL_MS), "--memory-mib", str(MEMORY_MIB)]
        self.environment = {**os.environ, "ASSAY_STATE_DIR": str(folder / "state")}
        # The server logs to the stderr that it inherits from this process. So this process
        # redirects its stderr to the log file while it starts the server.
        with open(self.log, "wb") as log:
            saved = os.dup(2)
            os.dup2(log.fileno(), 2)
            try:
                self.client = StdioClient(command, env=self.environment)
            finally:
                os.dup2(saved, 2)
                os.close(saved)
        self.runs: list[str] = []

    def grade(self, source: str) -> tuple[list[dict[str, Any]], list[str]]:
        """Submits the source in a new run. Returns every answer of the server, and the stages that
        its progress messages named."""
        answers: list[dict[str, Any]] = []
        places: list[str] = []
        started = self.client.call(
            "start_run",
            {"agent": "twin", "model": "none", "track": "practice", "suite": OPERATOR},
        )
        run = started["structuredContent"]["run"]
        self.runs.append(run)
        submission = {"operator": OPERATOR, "code": source}
        graded = self._ask(
            "submit", {**submission, "run": run, "response_format": "detailed"}, places
        )
        while graded["structuredContent"]["status"] == "running":
            job = {"job": graded["structuredContent"]["job"], "wait_s": 20}
            graded = self._ask("job", {**job, "response_format": "detailed"}, places)
        answers.append(graded)
        job = {"job": graded["structuredContent"]["job"], "response_format": "concise"}
        answers.append(self._ask("job", job, places))
        answers.append(self._ask("scorecard", {"run": run, "response_format": "detailed"}, places))
        page = {"uri": f"run://{run}/scorecard", "_meta": META}
        answers.append(self.client.send("resources/read", page)["result"])
        return answers, places

    def test(self, source: str) -> dict[str, Any]:
        """Tests the source on the public cases. The answer would show anything that an earlier
        grade left behind."""
        arguments = {"operator": OPERATOR, "code": source, "response_format": "detailed"}
        return self._ask("run_tests", arguments, [])

    def report(self, form: str) -> str:
        command = [self.binary, "report", "--store", str(self.store), "--format", form]
        said = subprocess.run(command, env=self.environment, capture_output=True, check=False)
        return _DIGEST.sub(r"\1D", said.stdout.decode() + said.stderr.decode())

    def evaluated(self, source: str, folder: Path) -> dict[str, Any]:
        """Judges the source by `assay eval`, as a maintainer does. Returns the whole verdict,
        including the hidden cases."""
        file = folder / "submission.py"
        file.write_text(source, encoding="utf-8")
        # The time limits are long. So even on a busy machine, a candidate sees a hidden case before
        # it reaches a limit.
        limits = ["--import-wall-ms", str(PATIENT_MS), "--run-wall-ms", str(PATIENT_MS)]
        command = [self.binary, "eval", OPERATOR, str(file), "--suite", str(self.suite), "--json"]
        command += limits
        said = subprocess.run(command, env=self.environment, capture_output=True, check=False)
        verdict: dict[str, Any] = json.loads(said.stdout)
        return verdict

    def _ask(self, tool: str, arguments: dict[str, Any], places: list[str]) -> dict[str, Any]:
        self.client.next_id += 1
        wanted = self.client.next_id
        meta = {**META, "progressToken": f"p{wanted}"}
        self.client.write(
            wanted, "tools/call", {"name": tool, "arguments": arguments, "_meta": meta}
        )
        while (message := self.client.read()).get("id") != wanted:
            if "message" in (told := message.get("params", {})):
                places.append(re.sub(r", \d+ s$", "", told["message"]))
        assert "result" in message, message
        result: dict[str, Any] = message["result"]
        return result

    def close(self) -> int:
        self.client.close()
        return int(self.client.process.returncode)


class Twins:
    def __init__(self, binary: str, folder: Path) -> None:
        suites = write_suites(folder)
        self.both = [
            Twin(binary, suite, folder / name)
            for suite, name in zip(suites, ("a", "b"), strict=True)
        ]

    def close(self) -> None:
        for twin in self.both:
            status = twin.close()
            assert status == 0, f"a server ended with status {status}"
