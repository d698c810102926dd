"""Tests the commands `assay export flashinfer-trace` and `assay import flashinfer-trace`: an operator
that makes the round trip judges the same source alike, and submissions of a run become solutions and
traces."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

from conftest import Run

ROOT = Path(__file__).resolve().parents[3]
sys.path.insert(0, str(ROOT / "tests/common"))

from stdio_client import StdioClient  # noqa: E402
from tool_calls import verdict_of  # noqa: E402
from trace_dataset_files import checked  # noqa: E402

ORACLE = (ROOT / "operators/standard/vector_add/oracle.py").read_text()
WRONG = ORACLE.replace("x + y", "x - y")


def grade(server: StdioClient, operator: str, source: str) -> dict[str, Any]:
    wanted = {"agent": "test", "model": "none", "track": "practice", "suite": operator}
    run = server.call("start_run", wanted)["structuredContent"]["run"]
    return verdict_of(server, "submit", {"run": run, "operator": operator, "code": source})


def test_an_operator_judges_alike_after_a_round_trip(
    assay: Run, binary: str, cpu_server: StdioClient, tmp_path: Path
) -> None:
    assert WRONG != ORACLE
    data, suite = tmp_path / "data", tmp_path / "suite"
    done = assay("export", "flashinfer-trace", str(data), "--operators", "vector_add")
    assert done.returncode == 0, done.stderr
    names = [one["name"] for one in checked(data)["definitions"]]
    assert names == ["vector_add_float16", "vector_add_float32"]
    done = assay("import", "flashinfer-trace", str(data), "--out", str(suite))
    assert done.returncode == 0 and "2 operators" in done.stdout, done.stdout + done.stderr
    command = [binary, "serve", "--stdio", "--device", "cpu", "--suite", str(suite)]
    there = StdioClient([*command, "--store", str(tmp_path / "there.db")])
    try:
        for text, outcome in ((ORACLE, "pass"), (WRONG, "fail")):
            graded = grade(cpu_server, "vector_add", text)
            assert graded["outcome"] == outcome, graded
            for name in names:
                graded = grade(there, name, text + "\n\nrun = vector_add\n")
                assert graded["outcome"] == outcome, (name, graded)
    finally:
        there.close()
    assert there.process.returncode == 0
    again = tmp_path / "again"
    done = assay(
        "export", "flashinfer-trace", str(again), "--suite", str(suite), "--operators", "all"
    )
    assert done.returncode == 0, done.stderr
    first, second = checked(data), checked(again)
    assert second["definitions"] == first["definitions"]
    assert by_uuid(second) == by_uuid(first)


def by_uuid(found: dict[str, Any]) -> dict[str, Any]:
    return {one["workload"]["uuid"]: one["workload"] for one in found["workloads"]}


def test_submissions_of_a_run_become_solutions_and_traces(assay: Run, tmp_path: Path) -> None:
    bench = ("--model", "sim:7", "--operators", "vector_add,relu", "--device", "cpu")
    done = assay("bench", *bench, "--out", str(tmp_path / "bench"), timeout=300)
    assert done.returncode == 0, done.stderr
    done = assay("export", "flashinfer-trace", str(tmp_path / "data"), "--all")
    assert done.returncode == 0, done.stderr
    found = checked(tmp_path / "data")
    assert {one["spec"]["language"] for one in found["solutions"]} == {"triton"}
    assert len(found["solutions"]) == 4  # two operators with two dtypes each
    statuses = {one["evaluation"]["status"] for one in found["traces"]}
    assert "PASSED" not in statuses  # a pass without a GPU has no time
    other = assay("export", "flashinfer-trace", str(tmp_path / "none"), "--all", "--caller", "x")
    assert other.returncode == 66 and "belongs to another client" in other.stderr, other.stderr
    assert not (tmp_path / "none").exists()


def test_what_cannot_be_exported_is_named(assay: Run, tmp_path: Path) -> None:
    out = str(tmp_path / "out")
    for words, status, text in (
        ((), 64, "name what to export: --run RUN, --job JOB, --all or --operators NAMES"),
        (("--all",), 66, "there is no store at"),
        (("--operators", "vektor_add"), 67, "unknown operator 'vektor_add'"),
    ):
        done = assay("export", "flashinfer-trace", out, *words)
        assert done.returncode == status and text in done.stderr, done.stderr
    assert not Path(out).exists()
