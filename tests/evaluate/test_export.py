"""Tests `assay export dataset` and `assay export harbor` with the jobs of a server on the fake device:
what is written can be read back, equal rows are written once, and neither secrets nor hidden cases
leave Assay."""

from __future__ import annotations

import json
import os
import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import assay
import pytest
from assay.adapters import harbor_tasks
from assay.datasets import DatasetError, read_dataset
from http_serving import Server, serving

ROOT = Path(__file__).resolve().parent.parent.parent
KEY = "sk-proj-0123456789abcdefABCDEF"
TOKEN = "assay_" + "0" * 26
COMPANY = "secret-project"
SECRETS = (KEY, TOKEN, COMPANY, "carol@example.org", "/home/carol")
SOURCE = "# fake: pass\n# mail carol@example.org\nX = 1\n"
SECRET_SOURCE = (
    f"# fake: fail\n# {KEY} {TOKEN} {COMPANY}\n# /home/carol/kernel.py, carol@example.org\n"
)


def export(store: Path, *words: str, **more: str) -> subprocess.CompletedProcess[str]:
    environment = {
        **os.environ,
        "ASSAY_PYTHON": sys.executable,
        "ASSAY_STATE_DIR": str(store.parent / "state"),
        **more,
    }
    binary = os.environ.get("ASSAY_BIN", str(ROOT / "build/release/bin/assay"))
    command = [binary, "export", *words]
    if words[0] == "dataset":
        command += ["--store", str(store)]
    return subprocess.run(command, env=environment, capture_output=True, text=True, check=False)


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("served") / "assay.db"


@pytest.fixture(scope="module")
def server(binary: str, store: Path) -> Iterator[Server]:
    with serving(binary, store.parent) as running:
        yield running


@pytest.fixture(scope="module")
def judged(url: str, store: Path, tmp_path_factory: pytest.TempPathFactory) -> Any:
    """The store of a server with practice, a run of a model, and a run of a simulated model. Their
    transcript is in a folder of a bench."""
    folder = tmp_path_factory.mktemp("export")
    with assay.Client(url) as client:
        practice = [
            assay.Evaluation("vector_add", source=SOURCE),
            assay.Evaluation("relu", source=SECRET_SOURCE),
        ]
        client.evaluate_all(practice)
        run = client.start_run("tester", "openai:gpt-5").run
        graded = [
            assay.Evaluation("vector_add", source=SOURCE, mode=mode, run=run, idempotency_key=key)
            for mode, key in (("test", "a"), ("test", "b"), ("grade", "c"))
        ]
        graded_id = [client.evaluate(one).id for one in graded][-1]
        simulated = client.start_run("tester", "sim:7 (no model)").run
        client.evaluate(
            assay.Evaluation("relu", source="# fake: pass\nORACLE = 1\n", run=simulated)
        )
    bench = folder / "bench"
    (bench / "transcripts").mkdir(parents=True)
    journal = [
        {"kind": "bench", "format": 1, "agent": "tester", "model": "openai:gpt-5", "suite": "all",
         "samples": 1, "device": "fake", "server": "", "store": "s.db"},
        {"kind": "run", "sample": 1, "run": run, "operators": ["vector_add"],
         "suite_id": {"name": "assay", "version": "1", "digest": "d"}},
    ]  # fmt: skip
    (bench / "journal.jsonl").write_text("".join(json.dumps(one) + "\n" for one in journal))
    steps = [
        {"at_unix_ms": 1, "kind": "prompt", "system": f"key {KEY}", "messages": []},
        {"at_unix_ms": 2, "kind": "reply", "text": "see /home/carol/x", "input_tokens": 3},
        {"at_unix_ms": 3, "kind": "tool_result", "tool": "submit", "text": f"run {run}",
         "structured": {"cases": [{"id": "hidden_large", "hidden": True, "reason": "rows=6144"}]}},
        {"at_unix_ms": 4, "kind": "note", "text": "it fails on hidden_half"},
    ]  # fmt: skip
    (bench / "transcripts/vector_add.1.jsonl").write_text(
        "".join(json.dumps(one) + "\n" for one in steps)
    )
    kept = {
        "format": "assay.transcript/1",
        "left_out": 2,
        "steps": [
            {"kind": "prompt", "at_s": 0, "name": "user", "text": f"mail carol@example.org {KEY}"},
            {"kind": "answer", "at_s": 1, "name": "submit", "text": "hidden_large", "job": graded_id},
        ],
    }  # fmt: skip
    with sqlite3.connect(store) as db:
        db.execute(
            "INSERT INTO transcripts VALUES (?, 'vector_add', ?, 1)", (run, json.dumps(kept))
        )
    named = folder / "values.txt"
    named.write_text(COMPANY + "\n")
    return SimpleNamespace(
        store=store, bench=bench, named=named, run=run, simulated=simulated, folder=folder
    )


@pytest.fixture(scope="module")
def dataset(judged: Any) -> Path:
    out: Path = judged.folder / "dataset"
    done = export(
        judged.store, "dataset", str(out), "--all", "--practice", "--bench", str(judged.bench),
        "--redact", str(judged.named), "--licence", "CC-BY-4.0", "--parquet",
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert "written: 2 sources, 4 verdicts, 1 transcripts" in done.stdout
    assert "1 without a model" in done.stdout
    return out


def test_a_dataset_is_read_back(dataset: Path, judged: Any) -> None:
    read = read_dataset(dataset)
    verdicts = list(read.verdicts())
    found = {(one["operator"], one["kind"], one["run"] == ""): one for one in verdicts}
    assert set(found) == {
        ("vector_add", "test", True),
        ("vector_add", "test", False),
        ("vector_add", "grade", False),
        ("relu", "test", True),
    }
    for row in read.sources():
        assert row["operator_licence"] == "Apache-2.0" and row["language"] == "python"
    relu = next(one for one in verdicts if one["operator"] == "relu")
    assert relu["outcome"] == "fail" and relu["family"] == "activation"
    assert "# fake: fail" in read.source_of(relu)
    graded = next(one for one in verdicts if one["kind"] == "grade")
    assert graded["model"] == "openai:gpt-5" and graded["suite_number"] >= 1
    assert "suite_digest" not in graded
    assert read.table("verdicts").to_pylist() == verdicts
    assert read.table("sources").to_pylist() == list(read.sources())
    assert read.table("transcripts").to_pylist() == list(read.transcripts())
    card = (dataset / "README.md").read_text()
    assert "CC-BY-4.0" in card and "Apache-2.0" in card and "api key" in card


def test_no_secret_handle_or_hidden_case_is_in_a_file(dataset: Path, judged: Any) -> None:
    read = read_dataset(dataset)
    texts = [path.read_text() for path in dataset.rglob("*.json*")]
    for secret in (*SECRETS, judged.run, judged.simulated, "ORACLE", "hidden_large", "rows=6144"):
        assert not any(secret in text for text in texts), secret
    [transcript] = read.transcripts()
    steps = transcript["steps"]
    assert [one["kind"] for one in steps] == ["prompt", "reply", "tool_result", "note"]
    assert (steps[0]["text"], steps[0]["data"]) == ("key [secret]", '{"role":"system"}')
    assert steps[1]["text"] == "see /home/user/x"
    assert steps[2]["text"] == f"run {transcript['run']}"  # the same pseudonym
    assert steps[2]["tool"] == "submit" and steps[2]["data"] == ""
    assert transcript["sample"] == 1 and transcript["left_out"] == 0
    for row in read.verdicts():
        for case in json.loads(row["verdict"])["cases"]:
            if case["hidden"]:
                assert set(case) == {"hidden", "id", "outcome"}
    counts = read.manifest["redactions"]
    assert counts["api key"] == 1 and counts["token of Assay"] == 1 and counts["named value"] == 1
    assert counts["secret in a transcript"] == 1


def test_the_store_has_transcripts_too(judged: Any) -> None:
    out = judged.folder / "stored"
    done = export(judged.store, "dataset", str(out), "--run", judged.run)
    assert done.returncode == 0, done.stderr
    read = read_dataset(out)
    [transcript] = read.transcripts()
    assert (transcript["sample"], transcript["cost_usd"], transcript["left_out"]) == (None, None, 2)
    assert (transcript["outcome"], transcript["error_kind"]) == ("pass", "none")
    first, second = transcript["steps"]
    assert first["text"] == "mail [redacted: address] [redacted: api key]"
    assert second["text"] == "[redacted: hidden case]" and second["kind"] == "tool_result"
    [grade] = [row for row in read.verdicts() if row["kind"] == "grade"]
    assert json.loads(second["data"]) == {"job": grade["job"]}


def test_equal_rows_are_written_once(dataset: Path, judged: Any) -> None:
    read = read_dataset(dataset)
    assert len(list(read.sources())) == 2
    dropped = read.manifest["dropped"]
    assert dropped["equal sources"] >= 2
    tested = [
        one for one in read.verdicts() if one["operator"] == "vector_add" and one["kind"] == "test"
    ]
    every = judged.folder / "every"
    done = export(judged.store, "dataset", str(every), "--all", "--keep-duplicates")
    assert done.returncode == 0, done.stderr
    kept = [one for one in read_dataset(every).verdicts() if one["kind"] == "test"]
    assert sum(1 + one["repeats"] for one in tested) == len(kept) + 1  # and one of practice
    assert all(one["repeats"] == 0 for one in kept)


def test_a_changed_file_is_noticed(dataset: Path) -> None:
    path = dataset / "data/sources.jsonl"
    before = path.read_bytes()
    path.write_bytes(before.replace(b"# fake: fail", b"# fake: pass"))
    with pytest.raises(DatasetError, match=r"sources\.jsonl has changed"):
        read_dataset(dataset)
    path.write_bytes(before)
    read_dataset(dataset)
    with pytest.raises(DatasetError, match=r"dataset\.json cannot be read"):
        read_dataset(dataset / "data")


def test_bad_input_is_named_and_writes_nothing(judged: Any, tmp_path: Path) -> None:
    out = tmp_path / "out"
    (tmp_path / "pyarrow.py").write_text("raise ImportError('none')\n")
    (tmp_path / "short.txt").write_text("ab\n")
    bad_bench = tmp_path / "bench"
    (bad_bench / "transcripts").mkdir(parents=True)
    (bad_bench / "journal.jsonl").write_text((judged.bench / "journal.jsonl").read_text())
    (bad_bench / "transcripts/vector_add.1.jsonl").write_text('{"kind": \n')
    for words, status, text in (
        ((), 64, "--run RUN, --all"),
        (("--run", "run_" + "0" * 26), 67, "run"),
        (("--all", "--sources", "some"), 64, "models"),
        (("--all", "--redact", str(tmp_path / "none")), 66, "none"),
        (("--all", "--redact", str(tmp_path / "short.txt")), 65, "short.txt:1"),
        (("--all", "--bench", str(bad_bench)), 65, "vector_add.1.jsonl"),
        (("--run", judged.simulated), 66, "--sources all"),
    ):
        done = export(judged.store, "dataset", str(out), *words)
        assert (done.returncode, text in done.stderr) == (status, True), done.stderr
    done = export(judged.store, "dataset", str(out), "--all", "--parquet", PYTHONPATH=str(tmp_path))
    assert done.returncode == 69 and "pip install pyarrow" in done.stderr, done.stderr
    assert not out.exists() and not list(tmp_path.glob(".out*"))
    done = export(judged.store, "dataset", str(tmp_path), "--all")
    assert done.returncode == 73 and "not empty" in done.stderr


def test_harbor_folders_are_those_of_a_server(url: str, judged: Any, tmp_path: Path) -> None:
    out = tmp_path / "tasks"
    done = export(judged.store, "harbor", str(out), "--operators", "vector_add,relu")
    assert done.returncode == 0 and "2 tasks" in done.stdout, done.stderr
    with assay.Client(url) as client:
        harbor_tasks.write_tasks(client, tmp_path / "served", ["vector_add", "relu"])

    def files(root: Path) -> dict[str, str]:
        return {
            str(path.relative_to(root)): path.read_text()
            for path in root.rglob("*")
            if path.is_file()
        }

    assert files(out) == files(tmp_path / "served")
    assert os.access(out / "relu/tests/test.sh", os.X_OK)
    done = export(judged.store, "harbor", str(out))
    assert done.returncode == 73 and "not empty" in done.stderr
    done = export(judged.store, "harbor", str(tmp_path / "none"), "--operators", "rleu")
    assert done.returncode == 67 and "operators list" in done.stderr
    assert not (tmp_path / "none").exists()
