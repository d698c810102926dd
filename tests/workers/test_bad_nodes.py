"""Checks workers on machines with a wrong clock or a full disk. Other pools work on meanwhile."""

from __future__ import annotations

import json
import os
import shlex
import shutil
from pathlib import Path

import pytest
from http_serving import serving
from test_workers import PASS, problems, run_tests

ROOT = Path(__file__).resolve().parent.parent.parent
ORACLE = (ROOT / "operators/standard/vector_add/oracle.py").read_text()
# Runs a command whose temporary files, home and state are on a full disk, in mounts of its own.
FULL_DISK = """
disk=$1
shift
mount -t tmpfs -o size=64k tmpfs "$disk"
cat /dev/zero >"$disk/fill" 2>/dev/null
export TMPDIR="$disk" HOME="$disk" XDG_CACHE_HOME="$disk" ASSAY_STATE_DIR="$disk"
exec "$@"
"""


def pools(folder: Path, **commands: str) -> Path:
    file = folder / "workers.toml"
    file.write_text(
        "".join(
            f"[[pool]]\nname = {json.dumps(name)}\ncommand = {json.dumps(command)}\n"
            for name, command in commands.items()
        )
    )
    return file


@pytest.mark.parametrize("off", ["-400d", "+400d"])
def test_a_wrong_clock_changes_nothing(binary: str, tmp_path: Path, off: str) -> None:
    """No message between a server and a worker has a time of day."""
    faketime = shutil.which("faketime")
    if faketime is None:
        pytest.skip("faketime is not installed")
    # Only the time of day is off. faketime would also change the clock that never goes back.
    real = ["env", "FAKETIME_DONT_FAKE_MONOTONIC=1", "DONT_FAKE_MONOTONIC=1"]
    command = shlex.join([*real, faketime, "-f", off, binary, "worker", "--device", "fake"])
    with serving(
        binary, tmp_path, "--workers", str(pools(tmp_path, off=command)), device=""
    ) as server:
        answer = run_tests(server, PASS)
        assert answer["outcome"] == "pass", problems(server)
        assert answer["provenance"]["worker"].startswith("off-1@")
        assert problems(server) == ""


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can mount a full disk")
def test_a_full_disk_of_a_node_costs_no_verdict(binary: str, tmp_path: Path) -> None:
    """A worker writes nothing that it needs to the disk: the jail has file systems in memory."""
    disk = tmp_path / "disk"
    disk.mkdir()
    worker = [binary, "worker", "--device", "cpu", "--log-file", str(disk / "log")]
    full = ["unshare", "--mount", "sh", "-c", FULL_DISK, "full", str(disk), *worker]
    good = shlex.join([binary, "worker", "--device", "fake"])
    file = pools(tmp_path, full=shlex.join(full), good=good)
    with serving(binary, tmp_path, "--workers", str(file), device="") as server:
        answer = run_tests(server, ORACLE, device="full")
        assert answer["outcome"] == "pass", (answer, problems(server))
        assert run_tests(server, PASS, device="good")["outcome"] == "pass"
