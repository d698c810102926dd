"""Checks that a server whose store cannot be written starts for reading, and writes again as soon as
it can.

A limit on the size of files (RLIMIT_FSIZE) stands for the full disk: every write fails, and the test
can lift the limit while the server runs. Another test fills a small file system."""

from __future__ import annotations

import contextlib
import resource
import sqlite3
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from http_serving import Server, serving, wait_until
from stdio_client import META, StdioClient, serve_command

GOOD = "# fake: pass\ndef vector_add(x, y):\n    return x\n"
SLOW = "# fake: sleep_ms=4000\ndef vector_add(x, y):\n    return x\n"


def no_writes() -> None:
    """Makes every write to a file fail. Runs in the server's process before the server starts."""
    resource.setrlimit(resource.RLIMIT_FSIZE, (0, resource.RLIM_INFINITY))


def allow_writes(server: Server) -> None:
    unlimited = (resource.RLIM_INFINITY, resource.RLIM_INFINITY)
    resource.prlimit(server.process.pid, resource.RLIMIT_FSIZE, unlimited)


def structured(server: Server, tool: str, **arguments: Any) -> dict[str, Any]:
    answer: dict[str, Any] = server.call(tool, arguments)["structuredContent"]
    return answer


class Filled:
    """A store with a run, a graded submission, and an unfinished job, which a killed server left."""

    def __init__(self, binary: str, folder: Path) -> None:
        store = folder / "assay.db"
        with serving(binary, folder) as server:
            started = structured(
                server, "start_run", agent="a", model="m", track="iterative", suite="vector_add"
            )
            self.run: str = started["run"]
            graded = structured(server, "submit", operator="vector_add", code=GOOD, run=self.run)
            self.graded: str = graded["job"]
        client = StdioClient(serve_command(binary, "fake", store))
        arguments = {"operator": "vector_add", "code": SLOW}
        call = {"name": "run_tests", "arguments": arguments}
        client.write(1, "tools/call", {**call, "_meta": {**META, "progressToken": 1}})
        assert client.read()["method"] == "notifications/progress"
        client.process.kill()
        client.process.wait()
        with contextlib.closing(sqlite3.connect(f"file:{store}?mode=ro", uri=True)) as connection:
            query = "SELECT job FROM submissions WHERE finished_unix_ms IS NULL"
            (self.unfinished,) = connection.execute(query).fetchone()


def check_reading(server: Server, filled: Filled) -> None:
    """Checks a server that cannot write: it answers what it knows, and refuses the rest."""
    assert server.request("GET", "/healthz")[0] == 200
    assert not server.call("fetch_spec", {"operator": "vector_add"}).get("isError")
    card = structured(server, "scorecard", run=filled.run)
    assert card["operators"][0]["outcome"] == "pass"
    assert structured(server, "job", job=filled.graded)["outcome"] == "pass"
    for tool, arguments in (
        ("run_tests", {"operator": "vector_add", "code": GOOD}),
        ("submit", {"operator": "vector_add", "code": GOOD, "run": filled.run}),
        ("start_run", {"agent": "a", "model": "m", "track": "practice", "suite": "vector_add"}),
        ("report_usage", {"run": filled.run, "input_tokens": 1, "output_tokens": 1}),
        ("job", {"job": filled.unfinished}),
    ):
        error = structured(server, tool, **arguments)["error"]
        assert (error["code"], error["retryable"]) == ("unavailable", True), (tool, error)


def check_writing(server: Server, filled: Filled) -> None:
    """Checks that the server writes again, and has run the job that a killed server left."""

    def can_write() -> bool:
        answer = structured(server, "run_tests", operator="vector_add", code=GOOD)
        return answer.get("outcome") == "pass"

    wait_until(can_write)
    left = structured(server, "job", job=filled.unfinished, wait_s=20)
    assert (left["state"], left["outcome"]) == ("finished", "pass")
    assert "error" not in structured(
        server, "start_run", agent="a", model="m", track="practice", suite="vector_add"
    )


@pytest.mark.parametrize("log_is_empty", [False, True])
def test_a_server_starts_without_room_and_writes_later(
    binary: str, tmp_path: Path, log_is_empty: bool
) -> None:
    filled = Filled(binary, tmp_path)
    if log_is_empty:  # as an orderly stop leaves the files
        with contextlib.closing(sqlite3.connect(tmp_path / "assay.db")) as connection:
            connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        assert not (tmp_path / "assay.db-wal").exists()
    else:  # as a crash leaves them, but without the index of the log, which needs room
        assert (tmp_path / "assay.db-wal").stat().st_size > 0
        (tmp_path / "assay.db-shm").unlink(missing_ok=True)
    with serving(binary, tmp_path, preexec=no_writes) as server:
        check_reading(server, filled)
        allow_writes(server)
        check_writing(server, filled)
    checked = subprocess.run(
        [binary, "store", "check", "--store", str(tmp_path / "assay.db")],
        capture_output=True,
        text=True,
    )
    assert checked.returncode == 0, checked.stdout


def test_a_server_that_cannot_write_still_refuses_a_store_in_use(
    binary: str, tmp_path: Path
) -> None:
    Filled(binary, tmp_path)
    with serving(binary, tmp_path):
        second = subprocess.run(
            serve_command(binary, "fake", tmp_path / "assay.db"),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            preexec_fn=no_writes,
        )
        assert second.returncode == 73
        assert "in use by another Assay" in second.stderr


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    folder = tmp_path / "disk"
    folder.mkdir()
    command = ["mount", "-t", "tmpfs", "-o", "size=1m", "tmpfs", str(folder)]
    if subprocess.run(command, capture_output=True).returncode != 0:
        pytest.skip("this user cannot mount a file system")
    yield folder
    subprocess.run(["umount", str(folder)], check=True)


def fill(folder: Path) -> Path:
    """Fills the file system of the folder with a file, and returns the file."""
    ballast = folder / "ballast"
    with contextlib.suppress(OSError), ballast.open("wb", buffering=0) as file:
        while True:
            file.write(b"x" * 512)
    return ballast


def test_a_full_disk(binary: str, small_disk: Path) -> None:
    filled = Filled(binary, small_disk)
    ballast = fill(small_disk)
    (small_disk / "assay.db-shm").unlink(missing_ok=True)
    fill(small_disk)
    with serving(binary, small_disk) as server:
        check_reading(server, filled)
        ballast.unlink()
        check_writing(server, filled)


def test_a_disk_that_is_mounted_read_only(binary: str, small_disk: Path) -> None:
    filled = Filled(binary, small_disk)
    mount = ["mount", "-o"]
    subprocess.run([*mount, "remount,ro", str(small_disk)], check=True)
    with serving(binary, small_disk) as server:
        check_reading(server, filled)
        subprocess.run([*mount, "remount,rw", str(small_disk)], check=True)
        check_writing(server, filled)
