"""Tests the limits for artifacts in the store of a real server, and the commands that show and
prune the store.

The submissions replace files of the compiler while they are recorded. So they choose what is stored
as their PTX, and how many bytes it has."""

from __future__ import annotations

import contextlib
import os
import re
import sqlite3
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from stdio_client import StdioClient, serve_command

Run = Callable[..., subprocess.CompletedProcess[str]]

MIB = 1 << 20
FLOOD_MIB = 6
FLOOD = f"""
import os

import torch
import triton
import triton.language as tl


@triton.jit
def add(x, y, z, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = i < n
    tl.store(z + i, tl.load(x + i, mask=mask) + tl.load(y + i, mask=mask), mask=mask)


def vector_add(x, y):
    z = torch.empty_like(x)
    add[(triton.cdiv(x.numel(), 1024),)](x, y, z, x.numel(), BLOCK=1024)
    for folder, _, names in os.walk("/tmp"):
        for name in names:
            if name.endswith(".ptx"):
                with open(os.path.join(folder, name), "wb") as file:
                    file.write(os.urandom({MIB // 2}).hex().encode() * {FLOOD_MIB})
    return z
"""


def size_of(store: Path) -> int:
    """Returns the total size of the store's files in bytes."""
    return sum(path.stat().st_size for path in store.parent.glob(store.name + "*"))


def compiled(client: StdioClient, code: str, **arguments: Any) -> dict[str, Any]:
    answer: dict[str, Any] = client.call(
        "compile", {"operator": "vector_add", "code": code, **arguments}
    )["structuredContent"]
    while answer["status"] == "running":
        answer = client.call("job", {"job": answer["job"], "wait_s": 20})["structuredContent"]
    return answer


def test_practice_that_floods_the_store_leaves_it_bounded(
    binary: str, assay: Run, tmp_path: Path
) -> None:
    store = tmp_path / "assay.db"
    command = [binary, "serve", "--stdio", "--device", "cpu", "--store", str(store)]
    limits = ["--artifact-owner-bytes", "16MiB", "--artifact-job-bytes", "14MiB"]
    client = StdioClient([*command, *limits])
    sizes, first = [], ""
    for i in range(8):
        answer = compiled(client, FLOOD + f"\n# {i}\n")
        assert answer["outcome"] == "pass", answer
        handles = [one["artifact"] for one in answer["artifacts"]]
        assert handles and "artifacts_dropped" not in answer
        first = first or handles[0]
        sizes.append(size_of(store))
    assert sizes[0] > FLOOD_MIB * MIB, "the flood must reach the store, or the test shows nothing"
    # The store's files stay small: they contain artifacts up to the limit of 16 MiB, and the log of
    # one transaction.
    assert max(sizes) < 64 * MIB
    gone = client.call("read_artifact", {"artifact": first})
    assert gone["isError"] and "not kept any more" in gone["content"][0]["text"]

    # The commands work while the server runs.
    told = assay("store", "stats", "--store", str(store))
    assert told.returncode == 0, told.stderr
    assert re.search(r"ptx, practice: \d+, \d+(\.\d)? MiB", told.stdout), told.stdout
    before = size_of(store)
    dry = assay("store", "prune", "--store", str(store), "--max-bytes", "1KiB", "--dry-run")
    assert dry.returncode == 0 and "would remove" in dry.stdout
    assert size_of(store) == before
    pruned = assay("store", "prune", "--store", str(store), "--max-bytes", "1KiB")
    assert pruned.returncode == 0, pruned.stderr
    assert "0 B of practice" in pruned.stdout, pruned.stdout
    assert "went back to the file system" in pruned.stdout, pruned.stdout
    assert size_of(store) < 4 * MIB
    after = compiled(client, FLOOD + "\n# after\n")
    assert after["outcome"] == "pass" and after["artifacts"]
    client.close()
    assert client.process.returncode == 0


def test_a_job_with_too_many_bytes_keeps_its_verdict_and_is_told_so(
    binary: str, tmp_path: Path
) -> None:
    store = tmp_path / "assay.db"
    client = StdioClient(
        [
            *[binary, "serve", "--stdio", "--device", "cpu", "--store", str(store)],
            *["--artifact-job-bytes", "1MiB"],
        ]
    )
    answer = compiled(client, FLOOD)
    client.close()
    assert answer["outcome"] == "pass"
    dropped = answer["artifacts_dropped"]
    assert {one["reason"] for one in dropped} == {"job_quota"}
    assert max(one["bytes"] for one in dropped) >= FLOOD_MIB * MIB
    assert size_of(store) < 4 * MIB


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["store", "prune", "--older-than", "week"], "7d"),
        (["store", "prune", "--max-bytes", "1GB"], "4GiB"),
        (["serve", "--artifact-age", "0"], "--artifact-age"),
    ],
)
def test_a_wrong_limit_is_refused_with_the_valid_ones(
    assay: Run, arguments: list[str], words: str
) -> None:
    done = assay(*arguments)
    assert done.returncode == 64
    assert words in done.stderr


def test_a_store_that_is_missing_is_told_and_not_created(assay: Run, tmp_path: Path) -> None:
    missing = tmp_path / "none.db"
    for command in ("stats", "prune"):
        done = assay("store", command, "--store", str(missing))
        assert done.returncode == 66
        assert "none.db" in done.stderr
    assert not missing.exists()


def private_mode(path: Path) -> int:
    return path.stat().st_mode & 0o777


def test_only_the_user_can_access_the_state(binary: str, tmp_path: Path) -> None:
    """Runs the server as a shell with the usual mask would."""
    state = tmp_path / "state"
    command = f"umask 022; exec {binary} serve --stdio --device fake"
    environment = {**os.environ, "ASSAY_STATE_DIR": str(state)}
    for _ in range(2):
        done = subprocess.run(
            ["sh", "-c", command],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            env=environment,
        )
        assert done.returncode == 0, done.stderr
        assert private_mode(state) == 0o700
        assert private_mode(state / "assay.db") == 0o600
    # An older server made both with the usual permissions.
    state.chmod(0o755)
    (state / "assay.db").chmod(0o644)
    done = subprocess.run(
        ["sh", "-c", command],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        env=environment,
    )
    assert "mode_before=0755" in done.stderr
    assert "mode_before=0644" in done.stderr
    assert private_mode(state) == 0o700
    assert private_mode(state / "assay.db") == 0o600


def test_check_and_backup_beside_a_server(binary: str, assay: Run, tmp_path: Path) -> None:
    store = tmp_path / "assay.db"
    copy = tmp_path / "copy.db"
    client = StdioClient(serve_command(binary, "fake", store))
    code = "# fake: pass\ndef vector_add(x, y): pass\n"
    assert client.call("run_tests", {"operator": "vector_add", "code": code})
    checked = assay("store", "check", "--store", str(store))
    assert (checked.returncode, checked.stderr) == (0, "")
    assert "no damage found; 1 jobs, 0 of them unfinished" in checked.stdout
    copied = assay("store", "backup", str(copy), "--store", str(store))
    assert copied.returncode == 0, copied.stderr
    assert private_mode(copy) == 0o600
    again = assay("store", "backup", str(copy), "--store", str(store))
    assert again.returncode == 64
    assert "exists" in again.stderr
    with contextlib.closing(sqlite3.connect(store)) as connection:
        connection.execute("UPDATE submissions SET finished_unix_ms = 1")
        connection.commit()
    prune = ["store", "prune", "--jobs-older-than", "30d", "--store", str(store)]
    would = assay(*prune, "--dry-run")
    assert "practice jobs: 1 with" in would.stdout
    done = assay(*prune)
    assert done.returncode == 0, done.stderr
    assert "practice jobs: 1 with" in done.stdout
    assert "0 jobs" in assay("store", "check", "--store", str(store)).stdout
    assert "1 jobs" in assay("store", "check", "--store", str(copy)).stdout
    client.close()
    with contextlib.closing(sqlite3.connect(copy)) as connection:
        connection.execute("DELETE FROM verdicts")
        connection.commit()
    damaged = assay("store", "check", "--store", str(copy))
    assert damaged.returncode == 1
    assert "1 finished jobs have no verdict" in damaged.stdout
