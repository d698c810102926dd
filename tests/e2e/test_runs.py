"""Checks what a maintainer sees of runs: `assay runs` lists them, `assay show` shows each job with its
source, and `assay report` takes the runs of a bench or all runs, also of different tracks."""

from __future__ import annotations

import csv
import io
import json
import re
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from llm_endpoint import Endpoint, env_of, error
from site_pages import parts_of_page

Run = Callable[..., subprocess.CompletedProcess[str]]
ROOT = Path(__file__).resolve().parents[2]
OPERATORS = "vector_add,relu"


@pytest.fixture
def benched(assay: Run, tmp_path: Path) -> list[str]:
    """Runs a bench of two agents, which have different tracks. Returns the options of its store."""
    store = ["--store", str(tmp_path / "s.db")]
    done = assay(
        "bench",
        *("--agent", "one_shot", "--agent", "leader", "--model", "sim:7?fake=1"),
        *("--operators", OPERATORS, "--samples", "2", "--device", "fake"),
        *("--out", str(tmp_path / "out"), *store),
    )
    assert done.returncode == 0, done.stderr
    assert "Tracks differ" in done.stdout and "iterative" in done.stdout
    return store


def test_runs_lists_the_newest_first(assay: Run, benched: list[str]) -> None:
    listed = json.loads(assay("runs", "--json", *benched).stdout)
    assert listed["known"] == 4 and len(listed["runs"]) == 4
    started = [run["started"] for run in listed["runs"]]
    assert started == sorted(started, reverse=True)
    for run in listed["runs"]:
        assert (run["state"], run["submitted"], run["operators"]) == ("complete", 2, 2)
        assert run["devices"] == ["fake"] and run["model"] == "sim:7?fake=1 (no model)"
        assert run["pass_at_1"] == run["passed"] / 2
    assert sorted(run["track"] for run in listed["runs"]) == ["iterative"] * 2 + ["one_shot"] * 2
    table = assay("runs", "--limit", "3", *benched).stdout
    assert [listed["runs"][i]["run"] in table for i in range(4)] == [True, True, True, False]
    assert "3 of 4 runs; --limit 0 lists all" in table
    assert table.splitlines()[0].split()[0] == "run" and "pass@1" in table


def test_show_has_the_source_the_verdict_and_the_transcript(
    assay: Run, benched: list[str], tmp_path: Path
) -> None:
    run = json.loads(assay("runs", "--json", *benched).stdout)["runs"][0]
    report = json.loads(assay("report", "--format", "json", "--run", run["run"], *benched).stdout)
    row = next(row for row in report["operators"] if row["operator"] == "relu")
    out = ["--bench", str(tmp_path / "out")]
    shown = json.loads(assay("show", row["job"], "--json", *out, *benched).stdout)
    assert (shown["job"], shown["run"], shown["operator"]) == (row["job"], run["run"], "relu")
    assert (shown["kind"], shown["state"], shown["device"]) == ("grade", "finished", "fake")
    assert shown["verdict"]["outcome"] == row["outcome"]
    assert "def relu" in shown["source"]
    transcript = [json.loads(line) for line in Path(shown["transcript"]).read_text().splitlines()]
    assert any(run["run"] in json.dumps(line) for line in transcript)
    plain = assay("show", row["job"], "--source", *benched)
    assert plain.stdout == shown["source"]
    text = assay("show", row["job"], *out, *benched).stdout
    for part in (row["job"], run["run"], shown["transcript"], "def relu", shown["source_sha256"]):
        assert part in text
    head, source = text.split("\nsource (untrusted; --source prints it without marks):\n")
    assert source == "".join(f"| {line}\n" for line in shown["source"].splitlines())
    assert "def relu" not in head
    unknown = assay("show", "job_none", *benched)
    assert unknown.returncode == 67 and "unknown job 'job_none'" in unknown.stderr
    nowhere = assay("show", row["job"], "--store", str(tmp_path / "none.db"))
    assert nowhere.returncode == 66


def test_show_of_a_source_with_control_characters(assay: Run, tmp_path: Path) -> None:
    from stdio_client import StdioClient, serve_command

    binary = ROOT / "build/release/bin/assay"
    store = tmp_path / "s.db"
    client = StdioClient(serve_command(binary, "fake", store))
    code = "# fake: pass\n# \x1b[31mred\u202e\ndef vector_add(x, y):\n    return x\n"
    answer = client.call("run_tests", {"operator": "vector_add", "code": code})
    client.close()
    job = answer["structuredContent"]["job"]
    text = assay("show", job, "--store", str(store)).stdout
    assert "\x1b" not in text and "\u202e" not in text and "\\x1b[31mred" in text
    assert "none (practice)" in text and "none is known" in text
    shown = json.loads(assay("show", job, "--json", "--store", str(store)).stdout)
    assert shown["source"] == code and shown["run"] is None and shown["transcript"] is None


def test_a_report_of_a_bench_has_all_its_runs_and_marks_the_tracks(
    assay: Run, benched: list[str], tmp_path: Path
) -> None:
    out = ["--bench", str(tmp_path / "out")]
    document = json.loads(assay("report", *out, "--format", "json", *benched).stdout)
    assert [len(one["run"]["samples"]) for one in document["comparison"]] == [2, 2]
    assert {one["run"]["track"] for one in document["comparison"]} == {"one_shot", "iterative"}
    assert document["note"].startswith("Tracks differ")
    rows = list(
        csv.DictReader(io.StringIO(assay("report", *out, "--format", "csv", *benched).stdout))
    )
    assert len(rows) == 8 and {row["track"] for row in rows} == {"one_shot", "iterative"}
    page = parts_of_page(assay("report", *out, "--format", "html", *benched).stdout)
    groups = page["index"]["groups"]
    assert {group["report"]["run"]["track"] for group in groups} == {"one_shot", "iterative"}
    assert [group["difference"] for group in groups] == [None, None], "tracks are not compared"
    table = assay("report", *out, *benched).stdout
    assert re.search(r"^agent +model +track ", table, re.MULTILINE) and "Tracks differ" in table
    everything = json.loads(assay("report", "--all", "--format", "json", *benched).stdout)
    assert sorted(one["run"]["agent"] for one in everything["comparison"]) == ["leader", "one_shot"]
    for wrong in (("--all", "--run", "x"), ("--all", *out), (*out, "--run", "x")):
        assert assay("report", *wrong, *benched).returncode == 64
    none = assay("report", "--bench", str(tmp_path / "nowhere"), *benched)
    assert none.returncode == 67 and "no journal of a bench" in none.stderr


def test_all_runs_are_those_with_the_operators_of_the_newest(
    assay: Run, benched: list[str], tmp_path: Path
) -> None:
    more = assay(
        *("bench", "--model", "sim:7?fake=1", "--operators", "relu", "--device", "fake"),
        *("--out", str(tmp_path / "more"), *benched),
    )
    assert more.returncode == 0, more.stderr
    done = assay("report", "--all", "--format", "json", *benched)
    assert json.loads(done.stdout)["run"]["suite"] == "relu"
    assert "left out: 4 of 5 runs" in done.stderr and "assay runs" in done.stderr


def bench_of(folder: Path, model: Endpoint, *more: str) -> list[str]:
    return [
        *("bench", "--model", "openai-compatible:m", "--device", "fake", "--out"),
        *(str(folder / "out"), "--store", str(folder / "s.db"), *more),
    ]


def test_a_bench_over_a_folder_of_operators(assay: Run, model: Endpoint, tmp_path: Path) -> None:
    suite = tmp_path / "suite"
    shutil.copytree(ROOT / "operators/standard/relu", suite / "standard/relu")
    for folder in ("guides", "examples"):
        if (ROOT / "operators" / folder).is_dir():
            shutil.copytree(ROOT / "operators" / folder, suite / folder)
    done = assay(*bench_of(tmp_path, model, "--suite", str(suite)), **env_of(model))
    assert done.returncode == 0, done.stderr
    assert model.asked == ["relu"] and "1 of 1" in done.stdout
    other = assay(*bench_of(tmp_path, model, "--resume"), **env_of(model))
    assert other.returncode == 64 and "folder is" in other.stderr


def test_prices_are_given_on_the_command_line(assay: Run, model: Endpoint, tmp_path: Path) -> None:
    options = bench_of(tmp_path, model, "--operators", "relu")
    unpriced = assay(*options, "--max-cost", "1", **env_of(model))
    assert unpriced.returncode == 64 and "--price IN,OUT" in unpriced.stderr
    wrong = assay(*options, "--price", "cheap", **env_of(model))
    assert wrong.returncode == 64 and "US dollars per million tokens" in wrong.stderr
    stranger = assay(*options, "--price", "openai:x=1,2", **env_of(model))
    assert stranger.returncode == 64 and "not a --model of this bench" in stranger.stderr
    assert not model.asked
    model.usage = None  # a free model costs nothing, also if the endpoint counts no tokens
    free = assay(*options, "--max-cost", "1", "--price", "0,0", **env_of(model))
    assert free.returncode == 0, free.stderr
    end = json.loads((tmp_path / "out/journal.jsonl").read_text().splitlines()[-1])
    assert end["cost_usd"] == 0 and end["charged_usd"] == 0


def test_a_bench_that_stops_says_why_first(assay: Run, model: Endpoint, tmp_path: Path) -> None:
    model.always = error(401, "no such key")
    options = bench_of(tmp_path, model, "--operators", OPERATORS, "--jobs", "1")
    done = subprocess_output(assay, options, env_of(model))
    first = done.index("assay bench: stopped: openai-compatible: HTTP 401")
    assert "pass@1" not in done and first < done.index("no attempt is finished")
    assert done.index("no attempt is finished") < done.index("--resume continues")


def subprocess_output(assay: Run, options: list[str], env: dict[str, Any]) -> str:
    """Returns what a terminal would show: both outputs in the order in which they were written."""
    import os

    binary = os.environ.get("ASSAY_BIN", str(ROOT / "build/release/bin/assay"))
    state = options[options.index("--out") + 1] + ".state"
    done = subprocess.run(
        [binary, *options],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=120,
        env={**os.environ, "ASSAY_STATE_DIR": state, **env},
    )
    assert done.returncode == 2
    return done.stdout
