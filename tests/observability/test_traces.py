"""Checks the traces that `assay serve` sends to an OpenTelemetry collector. A small HTTP server of
the test takes the place of the collector."""

from __future__ import annotations

import json
import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest
from http_serving import STATELESS, serving, wait_until

TRACE = "0af7651916cd43dd8448eb211c80319c"
OTHER_TRACE = "11111111111111112222222222222222"
PARENT = "b7ad6b7169203331"
CODE = "# fake: pass\ndef vector_add(x, y): pass\n"


class Collector:
    """A collector that keeps all requests. While `status` is not 200, it refuses them."""

    def __init__(self) -> None:
        self.requests: list[tuple[str, dict[str, str], Any]] = []
        self.status = 200
        collector = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers["Content-Length"]))
                headers = {name.lower(): value for name, value in self.headers.items()}
                collector.requests.append((self.path, headers, json.loads(body)))
                self.send_response(collector.status)
                self.send_header("Content-Length", "0")
                self.end_headers()

            def log_message(self, *_: Any) -> None:
                pass

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server.server_port}"

    def spans(self) -> list[dict[str, Any]]:
        return [
            span
            for _, _, body in list(self.requests)
            for resource in body["resourceSpans"]
            for scope in resource["scopeSpans"]
            for span in scope["spans"]
        ]


@contextmanager
def collecting() -> Iterator[Collector]:
    collector = Collector()
    thread = threading.Thread(target=collector.server.serve_forever)
    thread.start()
    try:
        yield collector
    finally:
        collector.server.shutdown()
        thread.join()
        collector.server.server_close()


def attributes(span: dict[str, Any]) -> dict[str, str]:
    return {one["key"]: next(iter(one["value"].values())) for one in span["attributes"]}


def nanoseconds(span: dict[str, Any]) -> tuple[int, int]:
    return int(span["startTimeUnixNano"]), int(span["endTimeUnixNano"])


def call(
    tool: str, arguments: dict[str, Any], traceparent: str = "", may_be_task: bool = False
) -> str:
    meta: dict[str, Any] = {**STATELESS, **({"traceparent": traceparent} if traceparent else {})}
    if not may_be_task:
        meta["io.modelcontextprotocol/clientCapabilities"] = {}
    params = {"name": tool, "arguments": arguments, "_meta": meta}
    return json.dumps({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params})


def headers_of(tool: str, **more: str) -> dict[str, str]:
    return {
        "MCP-Protocol-Version": "2026-07-28",
        "Mcp-Method": "tools/call",
        "Mcp-Name": tool,
        **more,
    }


@pytest.mark.parametrize("task", [False, True])
def test_a_call_and_its_job_are_spans_of_the_callers_trace(
    binary: str, tmp_path: Path, task: bool
) -> None:
    with collecting() as collector:
        arguments = ["--otlp-endpoint", collector.url + "/"]
        environment = {
            **os.environ,
            "OTEL_SERVICE_NAME": "team",
            "OTEL_EXPORTER_OTLP_HEADERS": "k=v",
        }
        with serving(binary, tmp_path, *arguments, environment=environment) as server:
            header = f"00-{TRACE}-{PARENT}-01"
            body = call("run_tests", {"operator": "vector_add", "code": CODE}, may_be_task=task)
            more = headers_of("run_tests", traceparent=header)
            assert server.request("POST", "/mcp", body, more_headers=more)[0] == 200
            wait_until(lambda: len(collector.spans()) >= 3)
    spans = collector.spans()
    assert {span["traceId"] for span in spans} == {TRACE}
    by_name = {span["name"]: span for span in spans}
    called = by_name["tools/call run_tests"]
    assert called["parentSpanId"] == PARENT
    assert called["kind"] == 2
    told = attributes(called)
    assert told["mcp.method.name"] == "tools/call"
    assert told["gen_ai.tool.name"] == "run_tests"
    assert told["client.address"] == "127.0.0.1"
    job = by_name["job run_tests"]
    assert job["parentSpanId"] == called["spanId"]
    # The answer to a call that became a task does not have the handle of the job yet.
    assert told.get("assay.job") == (None if task else attributes(job)["assay.job"])
    assert attributes(job)["assay.outcome"] == "pass"
    stages = [span for span in spans if span["name"].startswith("stage ")]
    assert stages[0]["name"] == "stage queue"
    assert {span["parentSpanId"] for span in stages} == {job["spanId"]}
    begins = [nanoseconds(span)[0] for span in stages]
    assert begins == sorted(begins)
    assert begins[0] == nanoseconds(job)[0]
    path, headers, sent = collector.requests[0]
    assert path == "/v1/traces"
    assert headers["content-type"] == "application/json"
    assert headers["k"] == "v"
    resource = sent["resourceSpans"][0]["resource"]
    assert attributes(resource)["service.name"] == "team"
    assert "def vector_add" not in json.dumps(sent)


def test_the_place_in_meta_comes_first(binary: str, tmp_path: Path) -> None:
    with collecting() as collector:
        environment = {**os.environ, "OTEL_EXPORTER_OTLP_ENDPOINT": collector.url}
        with serving(binary, tmp_path, environment=environment) as server:
            in_meta, in_header = f"00-{TRACE}-{PARENT}-01", f"00-{OTHER_TRACE}-{PARENT}-01"
            more = headers_of("list_operators", traceparent=in_header)
            body = call("list_operators", {}, in_meta)
            assert server.request("POST", "/mcp", body, more_headers=more)[0] == 200
            # The caller decided that nobody records this trace.
            more["traceparent"] = f"00-{OTHER_TRACE}-{PARENT}-00"
            unsampled = call("run_tests", {"operator": "vector_add", "code": CODE})
            more["Mcp-Name"] = "run_tests"
            assert server.request("POST", "/mcp", unsampled, more_headers=more)[0] == 200
            # A header of another form begins a new trace.
            more = headers_of("list_operators", traceparent="nonsense")
            server.request("POST", "/mcp", call("list_operators", {}), more_headers=more)
            wait_until(lambda: len(collector.spans()) >= 2)
    first, second = collector.spans()
    assert (first["traceId"], first["parentSpanId"]) == (TRACE, PARENT)
    assert second["traceId"] not in (TRACE, OTHER_TRACE)
    assert "parentSpanId" not in second


def test_a_grade_shows_no_stage_after_the_queue(binary: str, tmp_path: Path) -> None:
    with collecting() as collector:
        with serving(binary, tmp_path, "--otlp-endpoint", collector.url) as server:
            run = server.call(
                "start_run",
                {"agent": "a", "model": "m", "track": "practice", "suite": "vector_add"},
            )["structuredContent"]["run"]
            server.call("submit", {"operator": "vector_add", "code": CODE, "run": run})
            wait_until(lambda: any(span["name"] == "stage queue" for span in collector.spans()))
    names = [span["name"] for span in collector.spans()]
    assert [name for name in names if name.startswith("stage ")] == ["stage queue"]
    job = next(span for span in collector.spans() if span["name"] == "job submit")
    begin, end = nanoseconds(job)
    assert (end - begin) % 1_000_000_000 == 0  # the answer rounds the time of a grade up, too


def test_a_collector_that_fails_costs_no_verdict(binary: str, tmp_path: Path) -> None:
    with collecting() as collector:
        collector.status = 503
        log = tmp_path / "log"
        arguments = ["--otlp-endpoint", collector.url, "--log-file", str(log)]
        with serving(binary, tmp_path, *arguments) as server:
            said = server.call("run_tests", {"operator": "vector_add", "code": CODE})
            assert said["structuredContent"]["outcome"] == "pass"
            page = server.request("GET", "/metrics")[2]
            assert 'assay_spans_dropped_total{reason="queue_full"} 0\n' in page
            wait_until(
                lambda: 'reason="send_failed"} 0\n' not in server.request("GET", "/metrics")[2]
            )
        assert "spans are lost" in log.read_text()
        assert "status 503" in log.read_text()


def test_an_unusable_url_is_refused(assay: Any) -> None:
    done = assay("serve", "--stdio", "--device", "fake", "--otlp-endpoint", "collector:4318")
    assert done.returncode == 64
    assert "http://" in done.stderr
