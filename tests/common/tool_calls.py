"""Calls a tool and waits for the verdict, for suites that send many submissions to one server."""

from __future__ import annotations

from typing import Any

from stdio_client import StdioClient

WAIT_S = 20  # the longest time that one `job` call waits


def verdict_of(client: StdioClient, tool: str, arguments: dict[str, Any]) -> dict[str, Any]:
    """Calls the tool and waits for the job. Returns the detailed structured answer. The text of the
    last answer is added as `text`."""
    answer = client.call(tool, {**arguments, "response_format": "detailed"})
    verdict = answer["structuredContent"]
    while verdict.get("status") == "running" or verdict.get("state") in ("queued", "running"):
        answer = client.call(
            "job", {"job": verdict["job"], "wait_s": WAIT_S, "response_format": "detailed"}
        )
        verdict = answer["structuredContent"]
    return {**verdict, "text": answer["content"][0]["text"]}


def grade_of(client: StdioClient, operator: str, code: str) -> dict[str, Any]:
    """Submits the source in a practice run of its own. Returns the verdict as `verdict_of` does."""
    wanted = {"agent": "test", "model": "none", "track": "practice", "suite": operator}
    run = client.call("start_run", wanted)["structuredContent"]["run"]
    return verdict_of(client, "submit", {"run": run, "operator": operator, "code": code})
