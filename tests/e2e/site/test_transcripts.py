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
# Prints the text of the view. Its elements keep nothing but their text.
SHOW = """
globalThis.Node = class {
  text = '';
  setAttribute() {}
  appendChild(child) { this.text += child.text; }
};
const made = (text) => Object.assign(new Node(), { text });
globalThis.document = { createElement: () => made(''), createTextNode: made };
const { transcriptView } = await import(process.argv[2]);
console.log(transcriptView(JSON.parse(process.argv[3])).text);
"""


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


def test_a_reply_shows_only_tokens_that_were_reported(tmp_path: Path) -> None:
    esbuild = build() / "node_modules/.bin/esbuild"
    view, script = tmp_path / "view.mjs", tmp_path / "show.mjs"
    source = ROOT / "site/src/views/transcript.ts"
    words = [str(esbuild), str(source), "--bundle", "--format=esm", f"--outfile={view}"]
    subprocess.run(words, check=True, capture_output=True)
    script.write_text(SHOW)
    reply = {"kind": "reply", "at_s": 1, "text": "a kernel"}
    steps = [reply, {**reply, "output_tokens": 0}, {**reply, "output_tokens": 7}]
    document = json.dumps({"format": "assay.transcript/1", "steps": steps, "left_out": 0})
    done = subprocess.run(
        ["node", str(script), str(view), document], check=True, capture_output=True, text=True
    )
    for heading in (
        "1. Reply of the model after 1 s: a kernel",
        "2. Reply of the model after 1 s, 0 tokens: a kernel",
        "3. Reply of the model after 1 s, 7 tokens: a kernel",
    ):
        assert heading in done.stdout


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


def test_a_file_that_is_no_transcript_is_left_out(assay: Run, bench: Path, tmp_path: Path) -> None:
    store, copy = tmp_path / "s.db", tmp_path / "bench"
    with sqlite3.connect(bench.parent / "s.db") as db:
        db.execute("VACUUM INTO ?", (str(store),))
    shutil.copytree(bench, copy)
    (file,) = (copy / "transcripts").glob("*.jsonl")
    file.write_text("no JSON\n")
    done = assay("import", "transcripts", str(copy), "--store", str(store))
    assert done.returncode == 65 and "0 transcripts" in done.stdout
    assert str(file) in done.stderr and "1 transcripts are left out" in done.stderr


def test_an_imported_run_is_not_exported_as_judged_here(assay: Run, tmp_path: Path) -> None:
    store, key = tmp_path / "s.db", tmp_path / "key.pem"
    file = tmp_path / "verdicts.json"
    file.write_text(
        json.dumps(
            {
                "format": "assay.verdicts/1",
                "provenance": "Judged elsewhere.",
                "suite": {"name": "theirs", "version": "1"},
                "track": "one_shot",
                "device": "cuda:0",
                "device_name": "NVIDIA H200",
                "triton": "3.6.0",
                "torch": "2.11.0",
                "judged_unix_ms": 7,
                "operators": ["vector_add"],
                "runs": [{"agent": "x", "model": "m", "verdicts": [[0, "none", "done", "plan"]]}],
            }
        )
    )
    words = ["import", "verdicts", str(file), "--store", str(store)]
    assert assay(*words).returncode == 0
    again = assay(*words)
    assert again.returncode == 65 and "imported before" in again.stderr
    with sqlite3.connect(store) as db:
        ((run,),) = db.execute("SELECT run FROM runs")
        ((job,),) = db.execute("SELECT job FROM submissions")
    openssl = shutil.which("openssl")
    assert openssl
    subprocess.run([openssl, "genpkey", "-algorithm", "ed25519", "-out", str(key)], check=True)
    key.chmod(0o600)
    report = assay("report", "--run", run, "--store", str(store))
    assert report.returncode == 0 and "imported from a file: Judged elsewhere." in report.stderr
    assert f"the verdicts of {run} were imported from a file: Judged elsewhere." in report.stdout
    document = assay("report", "--run", run, "--store", str(store), "--format", "json")
    assert json.loads(document.stdout)["run"]["imported"] == {run: "Judged elsewhere."}
    bundle = tmp_path / "run.json"
    words = ["--key", str(key), "--out", str(bundle), "--store", str(store)]
    refused = assay("export", "run", run, *words)
    assert refused.returncode == 64 and "Judged elsewhere." in refused.stderr
    assert not bundle.exists()
    for kind in ("dataset", "flashinfer-trace"):
        out = str(tmp_path / kind)
        left_out = assay("export", kind, out, "--all", "--store", str(store))
        assert left_out.returncode == 66 and "left out: 1 runs" in left_out.stderr, kind
    out = str(tmp_path / "one")
    named = assay("export", "flashinfer-trace", out, "--job", job, "--store", str(store))
    assert named.returncode == 64 and "imported from a file" in named.stderr


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
