"""Tests `assay export run`, `assay export check` and `assay site --bundle`, with a run whose
verdicts nothing has judged (device `fake`) and a judgement on the device `cpu`."""

from __future__ import annotations

import base64
import contextlib
import json
import os
import re
import shutil
import sqlite3
import subprocess
from pathlib import Path
from typing import Any

import pytest
from conftest import ROOT, Run
from right_kernels import ADD, SOFTMAX
from site_pages import attempts_of, build, parts_of_folder, submit
from stdio_client import StdioClient

MODEL = "openai:<script>window.injected=1</script>"
# The claims: all are right. The device cpu finds that the second one is wrong. Nothing can be said
# about the Perf of the third one, because it is not timed.
SOURCES = {
    "vector_add": f"# fake: pass\n{ADD}",
    "softmax_last_dim": f"# fake: pass\n{SOFTMAX.replace('e / tl.sum', 'e + tl.sum')}",
    "layer_norm_fwd": "# fake: perf=2.0\n",
}


@pytest.fixture(scope="module")
def bundle(binary: str, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Returns the bundle of a run, with its store and its key beside it."""
    build()
    folder = tmp_path_factory.mktemp("bundles")
    store = str(folder / "s.db")
    client = StdioClient([binary, "serve", "--stdio", "--device", "fake", "--store", store])
    request = {"agent": "a", "model": MODEL, "track": "one_shot", "suite": ",".join(SOURCES)}
    run = client.call("start_run", request)["structuredContent"]["run"]
    for operator, source in SOURCES.items():
        submit(client, run, operator, source)
    client.call("report_usage", {"run": run, "input_tokens": 5, "output_tokens": 6})
    client.close()
    openssl = shutil.which("openssl")
    assert openssl
    key, out = str(folder / "key.pem"), folder / "run.json"
    subprocess.run([openssl, "genpkey", "-algorithm", "ed25519", "-out", key], check=True)
    os.chmod(key, 0o600)
    words = ["export", "run", run, "--key", key, "--out", str(out), "--store", store]
    done = subprocess.run([binary, *words], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert f"run {run}, 3 jobs" in done.stdout
    return out


def payload_of(bundle: Path) -> Any:
    return json.loads(base64.b64decode(json.loads(bundle.read_text())["payload"]))


def site_of(assay: Run, out: Path, *words: str) -> Any:
    done = assay("site", "--out", str(out), *words)
    assert done.returncode == 0, done.stderr
    return parts_of_folder(out), done.stderr


def test_a_bundle_has_sources_verdicts_and_environment(bundle: Path) -> None:
    payload = payload_of(bundle)
    assert payload["run"]["model"] == MODEL and payload["devices"] == ["fake"]
    assert {job["operator"]: job["source"] for job in payload["jobs"]} == SOURCES
    assert payload["usage"]["input_tokens"] == 5
    for job in payload["jobs"]:
        assert job["verdict"]["outcome"] == "pass"
        assert "seeds" not in json.dumps(job["verdict"]["cases"])


def test_the_script_of_pull_requests_checks_bundles(
    assay: Run, binary: str, bundle: Path, tmp_path: Path
) -> None:
    good = assay("export", "check", str(bundle))
    assert good.returncode == 0 and "claims 3 right" in good.stdout
    assert "3 of 3 operators submitted" in good.stdout
    changed = tmp_path / "changed.json"
    envelope = json.loads(bundle.read_text())
    payload = base64.b64decode(envelope["payload"]).replace(b"0.1.0", b"9.9.9")
    changed.write_text(json.dumps({**envelope, "payload": base64.b64encode(payload).decode()}))
    bad = assay("export", "check", str(bundle), str(changed), str(tmp_path / "none.json"))
    assert bad.returncode == 65
    assert "signature is wrong" in bad.stderr and "none.json" in bad.stderr

    script = [str(ROOT / "submissions/check.sh")]
    environment = {**os.environ, "ASSAY_BIN": binary}
    named = tmp_path / f"{payload_of(bundle)['run']['run']}.json"
    shutil.copy(bundle, named)
    assert subprocess.run([*script, str(named)], env=environment).returncode == 0
    for wrong in (bundle, changed, tmp_path / "none.json"):
        done = subprocess.run(
            [*script, str(wrong)], env=environment, capture_output=True, text=True
        )
        assert done.returncode == 1 and "refused" in done.stderr, wrong


def test_a_run_with_an_old_label_of_several_lines_is_exported(
    assay: Run, bundle: Path, tmp_path: Path
) -> None:
    """Labels that were stored before they had to be one line."""
    store = tmp_path / "s.db"
    shutil.copy(bundle.parent / "s.db", store)
    for label in ("one\ttab", "a\nrun forged", "\x1b[2J" * 50):
        with contextlib.closing(sqlite3.connect(store)) as database, database:
            database.execute("UPDATE runs SET agent = ?, model = ?", (label, label))
        run, out = payload_of(bundle)["run"]["run"], tmp_path / "run.json"
        key = ["--key", str(bundle.parent / "key.pem"), "--store", str(store)]
        done = assay("export", "run", run, *key, "--out", str(out))
        assert done.returncode == 0, done.stderr
        said = payload_of(out)["run"]
        for shown in (said["agent"], said["model"]):
            assert not re.search(r"[\x00-\x1f]", shown) and len(shown) <= 512
        assert said["agent"].startswith(("one tab", "a run forged", "\\x1b[2J"))
        checked = assay("export", "check", str(out))
        assert checked.returncode == 0 and len(checked.stdout.splitlines()) == 1, checked.stderr
        data = tmp_path / f"data{len(label)}"
        words = ("--all", "--sources", "all", "--store", str(store))
        done = assay("export", "dataset", str(data), *words)
        assert done.returncode == 0, done.stderr


def test_a_bundle_is_only_a_claim(assay: Run, bundle: Path, tmp_path: Path) -> None:
    store = str(bundle.parent / "s.db")
    parts, _ = site_of(assay, tmp_path / "out", store, "--bundle", str(bundle))
    groups = parts["index"]["groups"]
    assert len(groups) == 2, "the claimed run never joins the line of the same run in a store"
    assert sorted(len(group["origin"]) for group in groups) == [0, 32]
    claimed = next(group for group in groups if group["origin"])
    assert claimed["unranked"] == ["claimed"]
    states = {attempt["check"] for attempt in attempts_of(parts)}
    assert states == {"own", "claimed"}


def test_submissions_of_a_bundle_are_judged_again(assay: Run, bundle: Path, tmp_path: Path) -> None:
    words = ["--bundle", str(bundle), "--verify", "--device", "cpu"]
    parts, said = site_of(assay, tmp_path / "out", *words)
    index = parts["index"]
    names = [operator["name"] for operator in index["suites"][0]["operators"]]
    checks = {names[a["operator"]]: (a["check"], a["check_note"]) for a in attempts_of(parts)}
    assert checks["vector_add"] == ("verified", "")
    assert checks["softmax_last_dim"] == ("disputed", "Judged here: wrong_result.")
    assert checks["layer_norm_fwd"] == ("disputed", "Judged here: missing_entry.")
    assert index["groups"][0]["unranked"] == ["disputed"]
    assert "softmax_last_dim: disputed" in said


def test_what_cannot_be_used_is_refused(assay: Run, bundle: Path, tmp_path: Path) -> None:
    out = str(tmp_path / "out")
    hostile = tmp_path / "x.json"
    hostile.write_text("[" * 100_000)
    refused = assay("site", "--out", out, "--bundle", str(hostile))
    assert refused.returncode == 65 and "no signed bundle" in refused.stderr
    assert not (tmp_path / "out").exists()
    fake = assay("site", "--out", out, "--bundle", str(bundle), "--verify", "--device", "fake")
    assert fake.returncode == 64 and "judges nothing" in fake.stderr
    store, key = str(bundle.parent / "s.db"), bundle.parent / "key.pem"
    base = ["export", "run", "--store", store, "--out", str(tmp_path / "b.json")]
    run = payload_of(bundle)["run"]["run"]
    assert assay(*base, run, "--key", str(tmp_path / "none")).returncode == 66
    (tmp_path / "rsa").write_text("-----BEGIN PRIVATE KEY-----\n")
    os.chmod(tmp_path / "rsa", 0o600)
    no_key = assay(*base, run, "--key", str(tmp_path / "rsa"))
    assert no_key.returncode == 65 and "openssl genpkey" in no_key.stderr
    assert assay(*base, "run_x", "--key", str(key)).returncode == 67
    os.chmod(key, 0o644)
    open_key = assay(*base, run, "--key", str(key))
    os.chmod(key, 0o600)
    assert open_key.returncode == 76 and "chmod 600" in open_key.stderr
