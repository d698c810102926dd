"""Tests all formats of `assay report` on several runs in a real store. The fake device reads each
score from a comment in the submission."""

from __future__ import annotations

import csv
import io
import json
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
from site_pages import attempts_of, parts_of_page
from stdio_client import StdioClient

Run = Callable[..., subprocess.CompletedProcess[str]]

# Maps each operator to the submissions of its two samples.
ANSWERS = {
    "vector_add": ("# fake: perf=2.0", "# fake: perf=1.0"),
    "gelu_tanh": ("# fake: perf=0.5", "# fake: fail"),
    "softmax_last_dim": ("# fake: fail", "# fake: error=syntax_error"),
    "clamped_affine_scan": ("# fake: error=key_error", "# fake: error=timeout"),
}


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
    parts = parts_of_page(report(assay, (store, [run]), "--format", "html"))
    stages = parts["index"]["groups"][0]["report"]["metrics"]["stages"]
    assert {name: stage["attempts"] for name, stage in stages.items()} == {
        "compile": 1,
        "run_tests": 1,
        "submit": 2,
    }
    died_on_page = {
        parts["index"]["suites"][0]["operators"][each["operator"]]["name"]: each["died_at"]
        for each in attempts_of(parts)
    }
    assert died_on_page == {name: stage for name, (stage, _) in died.items()}


def test_csv_and_table(assay: Run, filled: tuple[Path, list[str]]) -> None:
    rows = list(csv.DictReader(io.StringIO(report(assay, filled, "--format", "csv"))))
    assert len(rows) == 8 and {row["sample"] for row in rows} == {"1", "2"}
    assert [row["perf"] for row in rows if row["operator"] == "vector_add"] == ["2", "1"]
    table = report(assay, filled)
    assert "pass@2" in table and "split ood" in table and "never ranked" not in table


def test_html_is_one_page_with_all_data(assay: Run, filled: tuple[Path, list[str]]) -> None:
    page = report(assay, filled, "--format", "html")
    assert "src=" not in page.split("<script>")[0] and page.count("</script>") == 2
    parts = parts_of_page(page)
    (group,) = parts["index"]["groups"]
    assert group["report"]["run"]["model"] == "openai:<b>m</b> & 'co'"
    document = json.loads(report(assay, filled, "--format", "json"))
    for key in ("totals", "metrics"):
        assert group["report"][key] == document[key]
    attempts = attempts_of(parts)
    assert [each["label"] for each in attempts] == [row["label"] for row in document["operators"]]
    for metric in parts["index"]["metrics"]:
        if metric["key"] != "codebleu":
            assert [each[metric["key"]] for each in attempts] == [
                row[metric["key"]] for row in document["operators"]
            ]


def test_codebleu_when_asked(assay: Run, filled: tuple[Path, list[str]]) -> None:
    document = json.loads(report(assay, filled, "--format", "json", "--codebleu"))
    scores = [row["similarity"]["codebleu"] for row in document["operators"]]
    assert len(scores) == 8 and all(0 <= score < 0.5 for score in scores)
    assert document["metrics"]["similarity"]["operators"] == 4
    assert json.loads(report(assay, filled, "--format", "json"))["metrics"]["similarity"] is None
    page = parts_of_page(report(assay, filled, "--format", "html", "--codebleu"))
    assert sorted(each["codebleu"] for each in attempts_of(page)) == sorted(scores)


def test_without_times_there_is_no_perf(binary: str, assay: Run, tmp_path: Path) -> None:
    store = tmp_path / "s.db"
    runs = fill(binary, store, "mine", "sim:1 (no model)", {"vector_add": ("# fake: pass",)})
    (group,) = parts_of_page(report(assay, (store, runs), "--format", "html"))["index"]["groups"]
    assert group["unranked"] == ["no_model"] and "never ranked" in group["note"]
    assert group["report"]["totals"]["no_perf_reason"] == "nothing was timed on device fake"
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
    index = parts_of_page(report(assay, runs, "--format", "html"))["index"]
    assert index["title"] == "2 agents or models compared"
    assert index["groups"][1]["difference"]["pass_at_1"]["value"] == 0.5
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
