"""Checks that devices and stores find themselves: what `--device auto` stands for, and what a second
server does when another one uses the store."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from stdio_client import StdioClient, serve_command
from tool_calls import grade_of

Run = Callable[..., subprocess.CompletedProcess[str]]
GOOD = "# fake: pass\ndef vector_add(x, y):\n    return x\n"
ROOT = Path(__file__).resolve().parents[2]
LAUNCHER_OF_ONE_GPU = '#!/bin/sh\nexec "{launcher}" --probe --driver fake\n'


@pytest.fixture(scope="module")
def devices(binary: str) -> dict[str, Any]:
    """Returns what `assay doctor`, which imports torch, says about the devices of this machine."""
    done = subprocess.run([binary, "doctor", "--json"], capture_output=True, text=True, timeout=120)
    found: dict[str, Any] = json.loads(done.stdout)["devices"]
    return found


def test_doctor_says_for_which_device_auto_stands(
    devices: dict[str, Any], binary: str, tmp_path: Path
) -> None:
    assert devices["auto"] == ("cuda:0" if devices["cuda"] else "cpu")
    # The launcher's own driver `fake` stands for a GPU, so that this also runs without a GPU.
    there = tmp_path / "bin"
    there.mkdir()
    for program in ("assay", "assay-jail"):
        (there / program).write_bytes((Path(binary).parent / program).read_bytes())
        (there / program).chmod(0o755)
    launcher = there / "assay-launcher"
    launcher.write_text(LAUNCHER_OF_ONE_GPU.format(launcher=Path(binary).parent / "assay-launcher"))
    launcher.chmod(0o755)
    environment = {
        **os.environ,
        "ASSAY_STATE_DIR": str(tmp_path / "state"),
        "ASSAY_ROOT": str(ROOT),
    }
    done = subprocess.run(
        [str(there / "assay"), "doctor"], capture_output=True, text=True, env=environment
    )
    assert "--device auto, the default, is cuda:0 here" in done.stdout


def test_the_default_device_needs_no_gpu_and_a_message_names_the_device(
    assay: Run, devices: dict[str, Any], cpu_server: StdioClient, tmp_path: Path
) -> None:
    source = tmp_path / "kernel.py"
    source.write_text("def vector_add(x, y)\n    return x\n")
    automatic = json.loads(assay("eval", "vector_add", str(source), "--json").stdout)
    asked = grade_of(cpu_server, "vector_add", source.read_text())
    assert automatic["provenance"]["device"] == ("cuda:0" if devices["cuda"] else "cpu")
    assert asked["tier_reason"].startswith("device cpu: ")
    unknown = assay("eval", "vector_add", str(source), "--device", "gpu")
    assert unknown.returncode == 67
    assert "unknown device 'gpu'; valid: cpu, cuda:N, hip:N, emulated, fake, auto" in unknown.stderr
    for command in ("eval", "serve", "bench"):
        assert "auto (the first GPU, or cpu if no GPU is usable)" in " ".join(
            assay(command, "--help").stdout.split()
        )


@contextmanager
def window(binary: str, store: Path, *more: str, **env: str) -> Iterator[StdioClient]:
    client = StdioClient(serve_command(binary, "fake", store, *more), {**os.environ, **env})
    try:
        yield client
    finally:
        client.close()


def start_run(client: StdioClient, track: str) -> dict[str, Any]:
    return client.call(
        "start_run", {"agent": "a", "model": "m", "track": track, "suite": "vector_add"}
    )


def test_a_second_window_practises_and_names_who_has_the_store(binary: str, tmp_path: Path) -> None:
    store = tmp_path / "assay.db"
    temporary = tmp_path / "tmp"
    temporary.mkdir()
    with window(binary, store) as first:
        holder = f"process {first.process.pid}, since 2"
        run = start_run(first, "iterative")["structuredContent"]["run"]
        with window(binary, store, TMPDIR=str(temporary)) as second:
            told = second.initialize()["result"]["instructions"]
            assert "for practice only" in told and holder in told
            arguments = {"operator": "vector_add", "code": GOOD}
            assert not second.call("run_tests", arguments).get("isError")
            refused = start_run(second, "iterative")
            assert refused["isError"]
            assert "no scored run can start here" in refused["content"][0]["text"]
            assert holder in refused["content"][0]["text"]
            practice = start_run(second, "practice")["structuredContent"]["run"]
            graded = second.call("submit", {**arguments, "run": practice})
            assert graded["structuredContent"]["outcome"] == "pass"
            lost = second.call("scorecard", {"run": run})
            assert lost["isError"] and holder in lost["content"][0]["text"]
            assert [entry.suffix for entry in temporary.iterdir()] == [".practice-store"]
        assert second.process.returncode == 0 and not list(temporary.iterdir())
        graded = first.call("submit", {**arguments, "run": run})
        assert graded["structuredContent"]["outcome"] == "pass"
    # The lock has gone with the first server, so the next one has the store again.
    with window(binary, store) as third:
        card = third.call("scorecard", {"run": run})["structuredContent"]
        assert card["passed"] == 1


@pytest.mark.parametrize("more", [("--require-store",), ("--http", "127.0.0.1:0")])
def test_a_server_that_must_have_the_store_ends_and_names_who_has_it(
    binary: str, tmp_path: Path, more: tuple[str, ...]
) -> None:
    store = tmp_path / "assay.db"
    with window(binary, store) as first:
        first.call("list_operators", {})
        command = serve_command(binary, "fake", store, *more)
        if "--http" in more:
            command.remove("--stdio")
        done = subprocess.run(
            command, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=60
        )
        assert done.returncode == 73
        assert f"in use by another Assay (process {first.process.pid}, since 2" in done.stderr


def test_a_killed_window_leaves_the_store_to_the_next_one(binary: str, tmp_path: Path) -> None:
    store = tmp_path / "assay.db"
    client = StdioClient(serve_command(binary, "fake", store))
    client.call("list_operators", {})
    client.process.send_signal(signal.SIGKILL)
    client.process.wait()
    started = time.time()
    with window(binary, store) as after:
        assert not start_run(after, "iterative").get("isError")
        named = (tmp_path / "assay.db.lock").read_text().split()
        assert int(named[0]) == after.process.pid
        assert started - 1 < int(named[1]) / 1000 < time.time() + 1


def test_the_temporary_store_of_a_killed_window_is_removed_by_the_next_one(
    binary: str, tmp_path: Path
) -> None:
    """A window that lives keeps its store, and so do folders that are not Assay's."""
    store, temporary = tmp_path / "assay.db", tmp_path / "tmp"
    for name in ("foreign.practice-store", "practice-store", "other"):
        (temporary / name).mkdir(parents=True)
    kept = set(temporary.iterdir())

    def of_windows() -> set[Path]:
        return set(temporary.iterdir()) - kept

    tmp = {"TMPDIR": str(temporary)}
    arguments = {"operator": "vector_add", "code": GOOD}
    with window(binary, store) as first:
        first.call("list_operators", {})
        with window(binary, store, **tmp) as living:
            living.call("run_tests", arguments)
            (of_living,) = of_windows()
            killed = StdioClient(serve_command(binary, "fake", store), {**os.environ, **tmp})
            killed.call("run_tests", arguments)
            (of_killed,) = of_windows() - {of_living}
            assert (of_killed / "assay.db").stat().st_size > 0
            killed.process.send_signal(signal.SIGKILL)
            killed.process.wait()
            with window(binary, store, **tmp) as after:
                after.call("list_operators", {})
                assert not of_killed.exists() and of_living.exists()
                assert not living.call("run_tests", arguments).get("isError")
    assert set(temporary.iterdir()) == kept
