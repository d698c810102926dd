"""Tests `assay bench --replay`, which grades the transcripts of a bench again without a model."""

from __future__ import annotations

import hashlib
import json
import re
import subprocess
from collections.abc import Callable
from pathlib import Path

from llm_endpoint import Endpoint, env_of

Run = Callable[..., subprocess.CompletedProcess[str]]
AGENT = "alphaevolve?attempts=3"
OPERATORS = "vector_add,relu,gelu_tanh"


def contents(folder: Path) -> dict[str, str]:
    return {
        str(path.relative_to(folder)): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }


def recorded(assay: Run, model: Endpoint, tmp_path: Path) -> Path:
    """Records a bench in which relu always fails and the other operators pass at once."""
    model.answers = {"relu": "# fake: fail"}
    out = tmp_path / "out"
    where = [
        "--store",
        str(tmp_path / "s.db"),
        "--out",
        str(out),
        "--operators",
        OPERATORS,
        "--device",
        "fake",
        "--samples",
        "2",
    ]
    done = assay(
        "bench", "--agent", AGENT, "--model", "openai-compatible:m", *where, **env_of(model)
    )
    assert done.returncode == 0, done.stderr
    return out


def replay(assay: Run, tmp_path: Path, *more: str) -> subprocess.CompletedProcess[str]:
    """Replays the bench. No model is reachable, so the replay would fail if it sent a request to a
    model."""
    return assay(
        "bench",
        "--replay",
        str(tmp_path / "out"),
        "--store",
        str(tmp_path / "s.db"),
        "--device",
        "fake",
        *more,
        ASSAY_LLM_BASE_URL="",
    )


def test_a_replay_is_graded_anew_and_changes_nothing_of_the_original(
    assay: Run, model: Endpoint, tmp_path: Path
) -> None:
    out = recorded(assay, model, tmp_path)
    before, asked = contents(out), model.requests
    done = replay(assay, tmp_path, "--jobs", "2")
    assert done.returncode == 0, done.stderr
    assert "6 of 6 attempts went as recorded, 0 otherwise, 0 had no reply" in done.stdout
    assert contents(out) == before and model.requests == asked
    # A replay is a separate run. It is labelled as a replay, is not ranked, and costs nothing.
    assert (
        "replay of openai-compatible:m (no model)" in done.stdout and "never ranked" in done.stdout
    )
    report = json.loads(
        assay("report", "--store", str(tmp_path / "s.db"), "--format", "json").stdout
    )
    assert report["run"]["ranked"] is False and report["totals"]["cost_usd"] == 0
    for name in ("relu", "vector_add"):
        texts = [
            (folder / f"transcripts/{name}.2.jsonl").read_text().splitlines()
            for folder in (out, tmp_path / "out.replay")
        ]
        there, here = (
            [line for line in map(json.loads, text) if line["kind"] in ("reply", "tool_call")]
            for text in texts
        )
        assert [line.get("text") for line in there] == [line.get("text") for line in here]
        jobs = [re.findall(r"job_\w+", "\n".join(text)) for text in texts]
        assert not set(jobs[0]) & set(jobs[1])  # the replay copied no verdict
    again = replay(assay, tmp_path)
    assert again.returncode == 64 and "--resume" in again.stderr
    assert replay(assay, tmp_path, "--resume").returncode == 0


def test_a_difference_from_the_recording_is_named(
    assay: Run, model: Endpoint, tmp_path: Path
) -> None:
    out = recorded(assay, model, tmp_path)
    # Changes a reply in the first transcript so that it fails. Removes one reply from the second
    # transcript. Removes the third transcript.
    passing = out / "transcripts/vector_add.1.jsonl"
    passing.write_text(passing.read_text().replace("# fake: pass", "# fake: error=timeout"))
    cut = out / "transcripts/relu.1.jsonl"
    lines = cut.read_text().splitlines(keepends=True)
    replies = [at for at, line in enumerate(lines) if json.loads(line)["kind"] == "reply"]
    cut.write_text("".join(lines[: replies[1]]))
    (out / "transcripts/gelu_tanh.2.jsonl").unlink()
    before = contents(out)
    done = replay(assay, tmp_path)
    assert done.returncode == 1, done.stderr
    assert contents(out) == before
    assert re.search(
        r"^vector_add #1: .*compile ended in pass there and in error \(timeout\) here",
        done.stdout,
        re.MULTILINE,
    ), done.stdout
    assert re.search(
        r"^relu #1: the transcript has no reply to request 2", done.stdout, re.MULTILINE
    )
    assert re.search(
        r"^gelu_tanh #2: the transcript has no reply to request 1", done.stdout, re.MULTILINE
    )
    assert "3 of 6 attempts went as recorded" in done.stdout
    assert "no_reply" in (tmp_path / "out.replay/journal.jsonl").read_text()
    inside = replay(assay, tmp_path, "--out", str(out / "again"))
    assert inside.returncode == 64 and "lies in the bench" in inside.stderr


def test_a_replay_of_several_pairs(assay: Run, tmp_path: Path) -> None:
    where = [
        "--store",
        str(tmp_path / "s.db"),
        "--out",
        str(tmp_path / "out"),
        "--operators",
        "vector_add,gelu_tanh",
        "--device",
        "fake",
    ]
    first = assay(
        "bench", "--agent", "one_shot", "--agent", "geak?iterations=2", "--model", "sim:7", *where
    )
    assert first.returncode == 0, first.stderr
    done = replay(assay, tmp_path)
    assert done.returncode == 0, done.stdout + done.stderr
    assert (
        done.stdout.count("2 of 2 attempts went as recorded") == 2 and "Comparison" in done.stdout
    )
    assert "replay of sim:7 (no model)" in done.stdout
