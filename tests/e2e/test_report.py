"""Tests all formats of `assay report` on several runs in a real store. The fake device reads each
score from a comment in the submission."""

from __future__ import annotations

import csv
import html.parser
import io
import json
import subprocess
import xml.etree.ElementTree as ElementTree
from collections.abc import Callable
from pathlib import Path

import pytest
from stdio_client import StdioClient

Run = Callable[..., subprocess.CompletedProcess[str]]

# Maps each operator to the submissions of its two samples.
ANSWERS = {
    "vector_add": ("# fake: perf=2.0", "# fake: perf=1.0"),
    "gelu_tanh": ("# fake: perf=0.5", "# fake: fail"),
    "softmax_last_dim": ("# fake: fail", "# fake: error=syntax_error"),
    "clamped_affine_scan": ("# fake: error=key_error", "# fake: error=timeout"),
}
VOID = {"meta"}


def fill(
    binary: str, store: Path, agent: str, model: str, answers: dict[str, tuple[str, ...]]
) -> list[str]:
    client = StdioClient([binary, "serve", "--stdio", "--device", "fake", "--store", str(store)])
    runs = []
    for sample in range(len(next(iter(answers.values())))):
        request = {"agent": agent, "model": model, "track": "one_shot", "suite": ",".join(answers)}
        run = client.call("start_run", request)["structuredContent"]["run"]
        for name, texts in answers.items():
            done = client.call(
                "submit",
                {
                    "run": run,
                    "operator": name,
                    "code": texts[sample] + "\ndef f(x):\n    return x\n",
                },
            )
            while done["structuredContent"].get("status") == "running":
                done = client.call("job", {"job": done["structuredContent"]["job"], "wait_s": 20})
        runs.append(run)
    client.close()
    return runs


@pytest.fixture(scope="module")
def filled(binary: str, tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, list[str]]:
    store = tmp_path_factory.mktemp("report") / "s.db"
    return store, fill(binary, store, "mine", "openai:<b>m</b> & 'co'", ANSWERS)


def report(assay: Run, filled: tuple[Path, list[str]], *more: str) -> str:
    store, runs = filled
    done = assay(
        "report", "--store", str(store), *(word for run in runs for word in ("--run", run)), *more
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_json(assay: Run, filled: tuple[Path, list[str]]) -> None:
    document = json.loads(report(assay, filled, "--format", "json"))
    metrics = document["metrics"]
    assert document["run"]["samples"] == filled[1] and document["run"]["ranked"] is True
    assert metrics["all"]["pass_at_1"]["value"] == pytest.approx((1 + 0.5) / 4)
    assert metrics["all"]["call_accuracy"]["value"] == pytest.approx((1 + 1 + 0.5) / 4)
    assert metrics["all"]["perf_at_1"]["value"] == pytest.approx((1.5 + 0.25) / 4)
    assert [point["k"] for point in metrics["pass_at_k"]] == [1, 2]
    assert metrics["pass_at_k"][1]["execution"]["value"] == pytest.approx(0.5)
    low, high = metrics["all"]["pass_at_1"]["interval"]
    assert low < 0.375 < high
    fast = {point["p"]: point["share"] for point in metrics["all"]["fast_p_oracle"]}
    assert fast[0] == pytest.approx(0.5) and fast[1] == pytest.approx(0.25) and fast[2] == 0
    assert (
        metrics["by_split"]["ood"]["pass_at_1"]["value"] == 0
        and metrics["by_split"]["ood"]["perf_at_1"] is None
    )
    assert set(metrics["by_difficulty"]) <= set("12345") and "" not in metrics["by_family"]
    totals = {name: group["total"] for name, group in metrics["error_groups"].items()}
    assert totals == {
        "Syntax": 1,
        "Attribute & Type": 0,
        "Name & Reference": 1,
        "Runtime & Logic": 3,
    }
    assert document == json.loads(report(assay, filled, "--format", "json")), (
        "the bootstrap is seeded"
    )


CALLS = {  # maps each operator to the tool calls in order, with the code of each call
    "vector_add": [
        ("compile", "# fake: error=syntax_error"),
        ("submit", "# fake: error=indentation_error"),
    ],
    "gelu_tanh": [
        ("compile", "# fake: pass"),
        ("run_tests", "# fake: fail"),
        ("submit", "# fake: error=key_error"),
    ],
    "softmax_last_dim": [
        ("compile", "# fake: pass"),
        ("run_tests", "# fake: pass"),
        ("submit", "# fake: fail"),
    ],
    "relu": [("run_tests", "# fake: pass")],  # never submitted
    "sum_last_dim": [("compile", "# fake: error=type_error"), ("submit", "# fake: pass")],
    "rope_neox": [],
}


def test_where_attempts_died(binary: str, assay: Run, tmp_path: Path) -> None:
    store = tmp_path / "s.db"
    client = StdioClient([binary, "serve", "--stdio", "--device", "fake", "--store", str(store)])
    request = {"agent": "mine", "model": "m", "track": "iterative", "suite": ",".join(CALLS)}
    run = client.call("start_run", request)["structuredContent"]["run"]
    for name, calls in CALLS.items():
        for tool, text in calls:
            client.call(
                tool, {"run": run, "operator": name, "code": text + "\ndef f(x):\n    return x\n"}
            )
    client.close()
    document = json.loads(report(assay, (store, [run]), "--format", "json"))
    died = {row["operator"]: (row["died_at"], row["died_of"]) for row in document["operators"]}
    assert died == {
        "vector_add": ("compile", "IndentationError"),
        "gelu_tanh": ("run_tests", "KeyError"),
        "softmax_last_dim": ("submit", "ResultsError"),
        "relu": ("submit", ""),
        "sum_last_dim": ("", ""),
        "rope_neox": ("", ""),
    }
    stages = document["metrics"]["stages"]
    assert {stage: count["attempts"] for stage, count in stages.items()} == {
        "compile": 1,
        "run_tests": 1,
        "submit": 2,
    }
    assert (
        stages["run_tests"]["error_groups"]["Name & Reference"]["types"]["KeyError"] == 1
        and stages["submit"]["without_error"] == 1
    )
    rows = list(csv.DictReader(io.StringIO(report(assay, (store, [run]), "--format", "csv"))))
    assert {row["operator"]: (row["died_at"], row["died_of"]) for row in rows} == died
    lines = report(assay, (store, [run])).splitlines()
    first = next(index for index, line in enumerate(lines) if line.startswith("died at"))
    assert [line.split() for line in lines[first + 2 : first + 5]] == [
        ["compile", "1", "1", "0", "0", "0", "0"],
        ["run_tests", "1", "0", "0", "1", "0", "0"],
        ["submit", "2", "0", "0", "0", "1", "1"],
    ]
    page = report(assay, (store, [run]), "--format", "html")
    assert "Where attempts died" in page
    ElementTree.fromstring(page.split("\n", 1)[1])


def test_csv_and_table(assay: Run, filled: tuple[Path, list[str]]) -> None:
    rows = list(csv.DictReader(io.StringIO(report(assay, filled, "--format", "csv"))))
    assert len(rows) == 8 and {row["sample"] for row in rows} == {"1", "2"}
    assert [row["perf"] for row in rows if row["operator"] == "vector_add"] == ["2", "1"]
    table = report(assay, filled)
    assert "pass@2" in table and "split ood" in table and "never ranked" not in table


class Checked(html.parser.HTMLParser):
    """An HTML parser. It fails if elements are not closed in order, or if the page could run a
    script or load a file."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.plots: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        names = {name for name, _ in attrs}
        assert tag not in {"script", "link", "img", "iframe", "object", "b"}
        assert not names & {"src", "href", "style"} and not any(
            name.startswith("on") for name in names
        )
        if tag == "svg":
            self.plots.append(dict(attrs)["aria-label"] or "")
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.handle_starttag(tag, attrs)
        if tag not in VOID:
            self.open.pop()

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag


def test_html_is_one_well_formed_page(assay: Run, filled: tuple[Path, list[str]]) -> None:
    page = report(assay, filled, "--format", "html")
    ElementTree.fromstring(page.split("\n", 1)[1])
    checked = Checked()
    checked.feed(page)
    checked.close()
    assert not checked.open
    assert [plot.split(":")[0] for plot in checked.plots] == [
        "Pass@1",
        "Perf@1",
        "fast_p",
        "pass@k over 2 samples",
        "Errors, by TritonBench's groups",
        "Pass@1 by difficulty",
    ]
    assert (
        "url(" not in page
        and "@import" not in page
        and page.count("http") == page.count("http-equiv") + page.count("http://www.w3.org/")
    )
    assert "&lt;b&gt;m&lt;/b&gt; &amp; &#39;co&#39;" in page


def test_codebleu_when_asked(assay: Run, filled: tuple[Path, list[str]]) -> None:
    document = json.loads(report(assay, filled, "--format", "json", "--codebleu"))
    scores = [row["similarity"]["codebleu"] for row in document["operators"]]
    assert len(scores) == 8 and all(0 <= score < 0.5 for score in scores)
    assert document["metrics"]["similarity"]["operators"] == 4
    assert json.loads(report(assay, filled, "--format", "json"))["metrics"]["similarity"] is None


def test_without_times_there_is_no_perf(binary: str, assay: Run, tmp_path: Path) -> None:
    store = tmp_path / "s.db"
    runs = fill(binary, store, "mine", "sim:1 (no model)", {"vector_add": ("# fake: pass",)})
    page = report(assay, (store, runs), "--format", "html")
    assert (
        "never ranked" in page
        and "Not drawn: nothing was timed on device fake." in page
        and "fast_p:" not in page
    )
    document = json.loads(report(assay, (store, runs), "--format", "json"))
    assert document["metrics"]["all"]["perf_at_1"] is None and document["run"]["ranked"] is False


def test_runs_of_several_agents_are_compared(binary: str, assay: Run, tmp_path: Path) -> None:
    store = tmp_path / "s.db"
    first = fill(binary, store, "mine", "m", {"vector_add": ("# fake: perf=2.0", "# fake: fail")})
    other = fill(binary, store, "theirs", "m", {"vector_add": ("# fake: perf=0.5",)})
    runs = (store, [first[0], *other, first[1]])
    document = json.loads(report(assay, runs, "--format", "json"))
    assert [(one["run"]["agent"], one["run"]["samples"]) for one in document["comparison"]] == [
        ("mine", first),
        ("theirs", other),
    ]
    assert [one["metrics"]["all"]["pass_at_1"]["value"] for one in document["comparison"]] == [
        0.5,
        1,
    ]
    rows = list(csv.DictReader(io.StringIO(report(assay, runs, "--format", "csv"))))
    assert [(row["agent"], row["perf"]) for row in rows] == [
        ("mine", "2"),
        ("mine", ""),
        ("theirs", "0.5"),
    ]
    page = report(assay, runs, "--format", "html")
    ElementTree.fromstring(page.split("\n", 1)[1])
    assert "2 agents or models compared" in page
    _, header, _, mine, theirs = report(assay, runs).splitlines()
    assert header.split()[:4] == ["agent", "model", "finished", "pass@1"]
    assert mine.split()[:7] == ["mine", "m", "2", "of", "2", "50.0", "%"]
    assert theirs.split()[:7] == ["theirs", "m", "1", "of", "1", "100.0", "%"]


def test_runs_that_cannot_be_compared(binary: str, assay: Run, tmp_path: Path) -> None:
    store = tmp_path / "s.db"
    first = fill(binary, store, "mine", "m", {"vector_add": ("# fake: pass",)})
    other = fill(binary, store, "theirs", "m", {"gelu_tanh": ("# fake: pass",)})
    done = assay(
        "report", "--store", str(store), "--run", first[0], "--run", other[0], "--format", "html"
    )
    assert done.returncode == 64 and "over the same operators" in done.stderr and not done.stdout
    unknown = assay("report", "--store", str(store), "--run", first[0], "--run", "run_nope")
    assert unknown.returncode == 67 and "unknown run" in unknown.stderr
