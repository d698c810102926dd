"""Checks that the page `/metrics` of the HTTP server, the data of its live pages and its interface
`/v1` do not depend on the hidden cases.

Two servers grade the same submissions. Their suites differ only in the hidden cases. The two pages
must be equal byte for byte, except for times and for what the operating system reports about the
process. The number of requests is checked and then replaced, because a slow grade needs more
requests."""

from __future__ import annotations

import json
import os
import re
import time
from contextlib import ExitStack, closing
from pathlib import Path
from typing import Any

from http_serving import Server, serving
from test_interference import secrets_in
from twins import HERE, IMPORT_WALL_MS, MEMORY_MIB, OPERATOR, RUN_WALL_MS, plain, write_suites

# The submissions that are graded. The first names the hidden case in an exception. The second names
# it in a kernel's name. In the third, the size of a numerical error depends on the hidden case.
CASES = ("01_class_name.py", "04_kernel_name.py", "38_strict_rule.py")
SECONDS = re.compile(
    r"^(assay_\w+_seconds_(?:bucket|sum)\{.*\}|assay_device_busy_seconds_total\{.*\}"
    r"|assay_(?:uptime|time)_seconds) .*$",
    re.M,
)
PROCESS = re.compile(
    r"^(process_\w+|assay_store_(?:free_)?bytes|assay_device_processes\{.*\}) .*$", re.M
)
# A slow grade has calls of the tool job, which say how the grade ended.
CALLS = re.compile(r"^assay_(?:calls_total|tool_seconds_\w+)\{.*\} .*\n", re.M)
TOOL_CALLS = re.compile(r"^assay_tool_calls_total\{.*\} (\d+)\n", re.M)
# The page has these lines if the request for the page is the server's only request.
ONLY_OWN = ("assay_http_connections 1", "assay_http_workers_busy 1")
QUIET_S = 120
METERED = ("assay_messages_total", "assay_message_seconds_count", "assay_http_responses_total")


class Metered:
    """Runs a server, and counts the calls and the pages that it has answered."""

    def __init__(self, server: Server) -> None:
        self.server, self.calls, self.pages = server, 0, 0
        self.jobs: list[str] = []

    def call(self, tool: str, arguments: dict[str, Any]) -> dict[str, Any]:
        self.calls += 1
        said: dict[str, Any] = self.server.call(tool, arguments)["structuredContent"]
        return said

    def grade(self, source: str) -> dict[str, Any]:
        run = self.call(
            "start_run",
            {"agent": "twin", "model": "none", "track": "practice", "suite": OPERATOR},
        )["run"]
        said = self.call("submit", {"operator": OPERATOR, "code": source, "run": run})
        while said["status"] == "running":
            said = self.call("job", {"job": said["job"], "wait_s": 20})
        self.jobs.append(said["job"])
        return said

    def get(self, path: str) -> Any:
        json_only = {"Accept": "application/json"}
        status, _, text = self.server.request("GET", path, more_headers=json_only)
        assert status == 200, (path, text)
        return json.loads(text)

    def told(self) -> dict[str, str]:
        """Returns what the interface /v1 and the live pages tell about the grades, by path."""
        ids = ",".join(self.jobs)
        index = self.get("/live/data/index")
        parts = {"attempts": len(index["attempt_parts"]), "details": index["details_parts"]}
        parts["specs"] = len(index["suites"])
        snapshot = f"/live/data/{index['live']['snapshot']}"
        said = {"evaluations": self.get(f"/v1/evaluations?ids={ids}&rewards=kevin")}
        said |= {"operators": self.get("/v1/operators?prompt=true"), "index": index}
        said["state"] = self.get("/live/state")
        for part, count in parts.items():
            for number in range(count):
                said[f"{part}-{number}"] = self.get(f"{snapshot}/{part}-{number}")
        return {path: plain(one, "decimals") for path, one in said.items()}

    def quiet_page(self) -> str:
        """Requests the page until it shows only its own connection. Returns this page. The server
        may close a connection some time after the client closed it."""
        deadline = time.monotonic() + QUIET_S
        with closing(self.server.connection()) as connection:
            while True:
                connection.request("GET", "/metrics")
                text = connection.getresponse().read().decode()
                self.pages += 1
                if set(ONLY_OWN) <= set(text.splitlines()):
                    return text
                assert time.monotonic() < deadline, text

    def page(self) -> str:
        """Returns the page. Replaces times by `T`, numbers from the operating system by `P`, and
        numbers of requests by `N`."""
        text = self.quiet_page()
        counted = [line for line in text.splitlines() if line.startswith(METERED)]
        assert len(counted) == len(METERED), counted
        tools = TOOL_CALLS.findall(text)
        assert sum(int(number) for number in tools) == self.calls, text
        text = CALLS.sub("", TOOL_CALLS.sub("", text))
        for line in counted:
            earlier_pages = self.pages - 1  # the page does not count itself
            answered = self.calls + (earlier_pages if "http" in line else 0)
            assert line.endswith(f" {answered}"), (line, answered)
            text = text.replace(line, f"{line.rpartition(' ')[0]} N")
        return PROCESS.sub(r"\1 P", SECONDS.sub(r"\1 T", text))


def test_the_page_of_metrics_does_not_depend_on_the_hidden_cases(
    binary: str, tmp_path: Path
) -> None:
    prelude = (HERE / "prelude.py").read_text(encoding="utf-8")
    with ExitStack() as stack:
        both = []
        for name, suite in zip("ab", write_suites(tmp_path), strict=True):
            (store := tmp_path / name).mkdir()
            options = ["--suite", str(suite), "--import-wall-ms", str(IMPORT_WALL_MS)]
            options += ["--run-wall-ms", str(RUN_WALL_MS), "--memory-mib", str(MEMORY_MIB)]
            environment = {**os.environ, "ASSAY_STATE_DIR": str(store / "state")}
            server = serving(binary, store, *options, device="cpu", environment=environment)
            both.append(Metered(stack.enter_context(server)))
        for case in CASES:
            source = f"{prelude}\n\n{(HERE / 'cases' / case).read_text(encoding='utf-8')}"
            outcomes = [metered.grade(source)["outcome"] for metered in both]
            assert outcomes[0] == outcomes[1] in ("pass", "fail"), case
            first, second = (metered.page() for metered in both)
            assert first == second, case
            assert 'assay_messages_total{method="tools/call",outcome="ok"} N' in first
        # All that is told after the last grade is compared, because it covers every grade.
        first_told, second_told = (metered.told() for metered in both)
        assert first_told.keys() == second_told.keys() > {"evaluations", "attempts-0", "details-0"}
        for path, text in first_told.items():
            assert text == second_told[path], path
            assert not secrets_in(text), path
