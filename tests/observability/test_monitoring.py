"""Checks the alerts and the dashboard of deploy/monitoring. promtool checks the syntax of each query,
and runs the tests of the alerts. A real server shows that each metric, each label and each value of
a label that a query names exists."""

from __future__ import annotations

import json
import re
import shlex
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest
from http_serving import PING, new_token, serving

ROOT = Path(__file__).resolve().parent.parent.parent
MONITORING = ROOT / "deploy/monitoring"
PAGE = ROOT / "docs/reference/observability.md"
# The names that Prometheus itself makes.
OF_PROMETHEUS = {"up", "instance", "job"}
ALERT = re.compile(r"^ +- alert: (\w+)\n +expr: >-\n((?: {10}.*\n)+)", re.MULTILINE)
TEST = re.compile(r"^  - name: (\w+) (fires|does not fire)$", re.MULTILINE)
SAMPLE = re.compile(r"^(\w+)(?:\{(.*)\})? \S+$")
LABEL = re.compile(r'(\w+)="((?:[^"\\]|\\.)*)"')
SELECTOR = re.compile(r"\b((?:assay|process)_\w+|up\b)(?:\{([^}]*)\})?")
MATCHER = re.compile(r'(\w+)\s*(=~|!~|!=|=)\s*"([^"]*)"')
GROUPED = re.compile(r"\bby \(([^)]*)\)")
CODE = {
    "ok": "# fake: pass\ndef vector_add(x, y): pass\n",
    "wrong": "# fake: fail\ndef vector_add(x, y): pass\n",
    "broken": "# fake: internal_error\ndef vector_add(x, y): pass\n",
}


def alerts() -> dict[str, str]:
    """Returns the queries of the alerts by name."""
    text = (MONITORING / "alerts.yml").read_text()
    found = {name: " ".join(query.split()) for name, query in ALERT.findall(text)}
    assert len(found) == text.count("- alert:")
    return found


def panels() -> list[str]:
    """Returns the queries of the dashboard."""
    dashboard = json.loads((MONITORING / "dashboard.json").read_text())
    return [target["expr"] for panel in dashboard["panels"] for target in panel["targets"]]


def queries() -> list[str]:
    return [*alerts().values(), *panels()]


def promtool(*arguments: str) -> str:
    program = shutil.which("promtool") or str(ROOT / "build/promtool")
    assert Path(program).exists(), "promtool is missing; ./run test gets it"
    done = subprocess.run([program, *arguments], capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_the_alerts_are_valid() -> None:
    assert f"{len(alerts())} rules found" in promtool(
        "check", "rules", str(MONITORING / "alerts.yml")
    )


def test_the_queries_of_the_dashboard_are_valid(tmp_path: Path) -> None:
    rules = [
        {"record": f"panel:{number}", "expr": query.replace("$__rate_interval", "5m")}
        for number, query in enumerate(panels())
    ]
    file = tmp_path / "rules.yml"
    file.write_text(json.dumps({"groups": [{"name": "dashboard", "rules": rules}]}))
    assert f"{len(rules)} rules found" in promtool("check", "rules", str(file))


def test_each_alert_fires_and_does_not_fire() -> None:
    file = MONITORING / "alerts_test.yml"
    tested = set(TEST.findall(file.read_text()))
    assert tested == {(name, how) for name in alerts() for how in ("fires", "does not fire")}
    assert "SUCCESS" in promtool("test", "rules", str(file))


def make_traffic(server: Any, token: str) -> None:
    """Makes the server do something of each kind that a query names."""
    for code in CODE.values():
        server.call("run_tests", {"operator": "vector_add", "code": code}, token)
    server.call("run_tests", {"operator": "none", "code": "x"}, token)
    server.request("POST", "/mcp", PING, token)
    server.request("POST", "/mcp", PING, "assay_wrong")
    server.request("POST", "/mcp", '{"jsonrpc":"2.0","id":1,"method":"none"}', token)


def exported(page: str) -> dict[str, dict[str, set[str]]]:
    """Returns the metrics of the page with their labels and the values of these labels."""
    found: dict[str, dict[str, set[str]]] = {}
    for line in page.splitlines():
        if line.startswith("#"):
            continue
        sample = SAMPLE.fullmatch(line)
        assert sample, line
        labels = found.setdefault(sample[1], {})
        for name, value in LABEL.findall(sample[2] or ""):
            labels.setdefault(name, set()).add(value)
    return found


@pytest.fixture(scope="module")
def page(binary: str, tmp_path_factory: pytest.TempPathFactory) -> str:
    folder = tmp_path_factory.mktemp("monitored")
    token = new_token(binary, folder / "tokens", "alice", "score", "practice")
    # The device `fake` has no processes, so the server has the device `cpu` too.
    arguments = ["--device", "cpu", "--token-file", str(folder / "tokens")]
    arguments += ["--worker-command", f"{shlex.quote(binary)} worker --device fake"]
    with serving(binary, folder, *arguments) as server:
        make_traffic(server, token)
        text: str = server.request("GET", "/metrics", token=token)[2]
    return text


def test_the_page_has_the_format_of_prometheus(page: str) -> None:
    program = shutil.which("promtool") or str(ROOT / "build/promtool")
    done = subprocess.run([program, "check", "metrics"], input=page, capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")


# A limit that is reached needs hundreds of calls, and these values are other servers' misfortune.
RARE = {("reason", "busy")}


@pytest.mark.parametrize("query", queries())
def test_the_server_exports_what_a_query_names(page: str, query: str) -> None:
    metrics = exported(page)
    labels: set[str] = set(OF_PROMETHEUS) | {"le"}
    selectors = SELECTOR.findall(query)
    assert selectors, query
    for metric, matchers in selectors:
        if metric in OF_PROMETHEUS:
            continue
        assert metric in metrics, f"{metric} is not exported"
        labels |= set(metrics[metric])
        for label, operator, value in MATCHER.findall(matchers):
            if label in OF_PROMETHEUS:
                continue
            assert label in metrics[metric], f"{metric} has no label {label}"
            if operator == "=" and (label, value) not in RARE:
                assert value in metrics[metric][label], f"{metric} has no {label}={value}"
    for group in GROUPED.findall(query):
        grouped = {label.strip() for label in group.split(",")}
        assert grouped <= labels, f"no label {grouped - labels}"


def test_a_wrong_name_is_seen(page: str) -> None:
    for query in (
        "assay_no_metric",
        'assay_jobs_total{colour="red"}',
        'assay_refused_total{reason="colour"}',
        "sum by (colour) (assay_jobs_total)",
    ):
        with pytest.raises(AssertionError):
            test_the_server_exports_what_a_query_names(page, query)


def test_the_page_of_the_reference_lists_each_metric(page: str) -> None:
    families = set(re.findall(r"^# TYPE (\w+) ", page, re.MULTILINE))
    text = PAGE.read_text()
    assert {name for name in families if f"`{name}" not in text} == set()
    listed = set(re.findall(r"^\| `(\w+)", text, re.MULTILINE))
    more = set(re.findall(r"^\|.*?, `((?:assay|process)_\w+)", text, re.MULTILINE))
    assert {n for n in listed | more if n.startswith(("assay_", "process_"))} <= families
