"""Runs deploy/kubernetes/worker.sh with a played kubectl, which runs the command of `exec` on this
machine. No cluster is needed."""

from __future__ import annotations

import json
import signal
import subprocess
from pathlib import Path

import pytest
from cluster_load import run_tests
from http_serving import serving
from test_roles import wait_until

ROOT = Path(__file__).resolve().parent.parent.parent
SCRIPT = ROOT / "deploy/kubernetes/worker.sh"
MANIFEST = ROOT / "deploy/kubernetes/gpu-worker.yaml"
# Says the states of the file `states`, one a call, and then the last one again.
KUBECTL = """#!/bin/sh
cd "$(dirname "$0")"
echo "$*" >>calls
[ "$1 $2" = "--namespace assay" ] || exit 64
shift 2
case $1 in
  create) echo job.batch/assay-gpu-x7k2p ;;
  get) head -n 1 states
    if [ "$(wc -l <states)" -gt 1 ]; then sed -i 1d states; fi ;;
  delete) echo deleted ;;
  exec) while [ "$1" != -- ]; do shift; done; shift; exec "$@" ;;
esac
"""


@pytest.fixture
def cluster(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Returns the folder of the played kubectl, whose pod is scheduled at the third look."""
    folder = tmp_path / "cluster"
    folder.mkdir()
    (folder / "kubectl").write_text(KUBECTL)
    (folder / "kubectl").chmod(0o755)
    waiting = "Pending 0/3 nodes are available: 3 Insufficient nvidia.com/gpu."
    (folder / "states").write_text(f"\n{waiting}\nRunning\n")
    monkeypatch.setenv("PATH", str(folder), prepend=":")
    monkeypatch.setenv("POLL_S", "0.1")
    return folder


def calls(cluster: Path) -> list[str]:
    lines = (cluster / "calls").read_text().splitlines()
    return [line.removeprefix("--namespace assay ").split()[0] for line in lines]


def test_a_worker_runs_in_a_pod(cluster: Path, binary: str, tmp_path: Path) -> None:
    command = f"{SCRIPT} {MANIFEST} {binary} worker --device fake"
    file = tmp_path / "workers.toml"
    file.write_text(f'[[pool]]\nname = "pods"\ncommand = {json.dumps(command)}\n')
    with serving(binary, tmp_path, "--workers", str(file), device="") as server:
        answer = run_tests(server, "in a pod")
        assert answer["outcome"] == "pass"
        assert answer["provenance"]["worker"].startswith("pods-")
    assert calls(cluster) == ["create", "get", "get", "get", "exec"]


def test_what_the_scheduler_says_is_passed_on(cluster: Path) -> None:
    done = subprocess.run([SCRIPT, MANIFEST, "true"], capture_output=True, text=True, timeout=60)
    assert done.returncode == 0 and done.stdout == ""
    assert "job.batch/assay-gpu-x7k2p: Pending 0/3 nodes are available" in done.stderr


def test_a_start_that_is_given_up_leaves_no_job(cluster: Path) -> None:
    (cluster / "states").write_text("Pending no node\n")
    process = subprocess.Popen([SCRIPT, MANIFEST, "true"], stderr=subprocess.PIPE, text=True)
    wait_until(lambda: (cluster / "calls").exists() and "get" in calls(cluster))
    process.send_signal(signal.SIGTERM)
    assert process.wait(30) == 143
    assert calls(cluster)[-1] == "delete"


def test_a_pod_that_ends_is_named(cluster: Path) -> None:
    (cluster / "states").write_text("Failed \n")
    done = subprocess.run([SCRIPT, MANIFEST, "true"], capture_output=True, text=True, timeout=60)
    assert done.returncode == 1
    assert "the pod of job.batch/assay-gpu-x7k2p has ended: Failed" in done.stderr
    assert calls(cluster)[-1] == "delete"
