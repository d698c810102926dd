"""Tests that a bench leaves its transcripts in its store, and who sees them on a site."""

from __future__ import annotations

import json
import os
import shutil
import sqlite3
import subprocess
from pathlib import Path
from typing import Any

import pytest
from conftest import ROOT, Run
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


def test_a_bundle_carries_the_transcripts(assay: Run, bench: Path, tmp_path: Path) -> None:
    store, key, out = bench.parent / "s.db", tmp_path / "key.pem", tmp_path / "run.json"
    with sqlite3.connect(store) as db:
        ((run,),) = db.execute("SELECT run FROM runs")
    openssl = shutil.which("openssl")
    assert openssl
    subprocess.run([openssl, "genpkey", "-algorithm", "ed25519", "-out", str(key)], check=True)
    key.chmod(0o600)
    words = ["--key", str(key), "--out", str(out), "--store", str(store)]
    done = assay("export", "run", run, *words)
    assert done.returncode == 0 and "1 transcripts" in done.stdout, done.stderr
    (shown,) = transcripts(assay, tmp_path / "site", "--sources", "all", "--bundle", str(out))
    assert [step["kind"] for step in shown["steps"]][:3] == ["call", "answer", "prompt"]


def test_the_owner_of_a_store_can_add_transcripts(assay: Run, bench: Path, tmp_path: Path) -> None:
    store = tmp_path / "s.db"
    with sqlite3.connect(bench.parent / "s.db") as db:
        db.execute("VACUUM INTO ?", (str(store),))
    with sqlite3.connect(store) as db:
        before = db.execute("SELECT run, operator, document FROM transcripts").fetchall()
        db.execute("DELETE FROM transcripts")
    words = ["import", "transcripts", str(bench), "--store", str(store)]
    done = assay(*words)
    assert done.returncode == 0 and "1 transcripts" in done.stdout, done.stderr
    with sqlite3.connect(store) as db:
        after = db.execute("SELECT run, operator, document FROM transcripts").fetchall()
        assert [row[:2] for row in after] == [row[:2] for row in before]
        db.execute("DELETE FROM transcripts")
    # In this process's environment nothing is secret.
    assert SECRET in after[0][2] and SECRET not in before[0][2]
    assert assay("import", "transcripts", str(tmp_path), "--store", str(store)).returncode == 66
    other = assay("import", "transcripts", str(bench), "--store", str(tmp_path / "new.db"))
    assert other.returncode == 66 and "has no run" in other.stderr


def test_a_file_of_verdicts_that_is_none_is_refused(assay: Run, tmp_path: Path) -> None:
    store = ["--store", str(tmp_path / "s.db")]
    (tmp_path / "bad.json").write_text('{"format": "assay.verdicts/2"}')
    bad = assay("import", "verdicts", str(tmp_path / "bad.json"), *store)
    assert bad.returncode == 65 and "assay.verdicts/1" in bad.stderr
    assert assay("import", "verdicts", str(tmp_path / "none.json"), *store).returncode == 66
    assert not (tmp_path / "s.db").exists()
    good = str(ROOT / "measurements/results/published-verdicts-h200.json")
    unknown = assay("import", "verdicts", good, "--model", "gpt-none", *store)
    assert unknown.returncode == 67 and "gpt-4o" in unknown.stderr
