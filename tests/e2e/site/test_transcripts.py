"""Tests that a bench leaves its transcripts in its store, and who sees them on a site."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path
from typing import Any

import pytest
from conftest import Run
from site_pages import build, parts_of_folder

# An answer of a tool has this text, so a transcript has it too.
SECRET = "This operator is done"


@pytest.fixture(scope="module")
def bench(binary: str, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Returns the folder of a bench with a simulated model, whose store is beside it."""
    build()
    folder = tmp_path_factory.mktemp("transcripts")
    words = [binary, "bench", "--model", "sim:7", "--operators", "vector_add", "--device", "fake"]
    words += ["--store", str(folder / "s.db"), "--out", str(folder / "bench")]
    environment = {**os.environ, "ASSAY_STATE_DIR": str(folder / "state"), "A_TOKEN": SECRET}
    done = subprocess.run(words, env=environment, capture_output=True, text=True, timeout=120)
    assert done.returncode in (0, 1), done.stderr
    assert "transcripts are not" not in done.stderr
    return folder / "bench"


def transcripts(assay: Run, out: Path, *words: str) -> list[Any]:
    done = assay("site", "--out", str(out), *words)
    assert done.returncode == 0, done.stderr
    parts = parts_of_folder(out)
    return [entry["transcript"] for entry in parts["details-0"]]


def test_a_site_shows_a_transcript_only_with_the_sources(
    assay: Run, bench: Path, tmp_path: Path
) -> None:
    store = str(bench.parent / "s.db")
    (shown,) = transcripts(assay, tmp_path / "all", "--sources", "all", store)
    assert shown["format"] == "assay.transcript/1" and shown["left_out"] == 0
    kinds = [step["kind"] for step in shown["steps"]]
    assert kinds[:3] == ["call", "answer", "prompt"] and "reply" in kinds
    assert shown["steps"][0]["name"] == "fetch_spec"
    assert any(step.get("job", "").startswith("job_") for step in shown["steps"])
    text = json.dumps(shown)
    (file,) = (bench / "transcripts").glob("*.jsonl")
    assert SECRET in file.read_text() and SECRET not in text and "[secret]" in text
    assert '"run: ' not in text and "run: run_" not in text
    # A simulated model submits changed oracles, so its transcript is no more public than its source.
    assert transcripts(assay, tmp_path / "models", store) == [None]
