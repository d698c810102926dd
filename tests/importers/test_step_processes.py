"""Tests that no process of an import's step outlives the step or the import."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT / "importers"))
from step_processes import StepProcesses, Stopped  # noqa: E402

LONG = "600"  # seconds; a test that waits for such a process fails by its own deadline
DEADLINE_S = 60


def started(mark: Path) -> int:
    """Waits until a shell has written the id of its child, and returns the id."""
    end = time.monotonic() + DEADLINE_S
    while time.monotonic() < end:
        if mark.exists() and (text := mark.read_text()).endswith("\n"):
            return int(text)
        time.sleep(0.01)
    raise AssertionError(f"{mark} was not written")


def ends(pid: int) -> bool:
    """Waits until the process has ended. A zombie counts as ended, because its parent may not reap
    it."""
    end = time.monotonic() + DEADLINE_S
    while time.monotonic() < end:
        try:
            state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
        except (FileNotFoundError, ProcessLookupError):
            return True
        if state == "Z":
            return True
        time.sleep(0.01)
    return False


def shell(text: str) -> list[str]:
    return ["bash", "-c", text]


@pytest.fixture
def mark(tmp_path: Path) -> Iterator[Path]:
    """Yields the path of a file. A step of the test writes the id of its child to the file. If this
    child still runs after the test, kills it."""
    path = tmp_path / "child"
    yield path
    if path.exists() and not ends_now(int(path.read_text())):
        os.kill(int(path.read_text()), signal.SIGKILL)


def ends_now(pid: int) -> bool:
    return not Path(f"/proc/{pid}").exists()


def test_the_output_and_status_of_a_step() -> None:
    done = StepProcesses().run(shell("echo out; echo err >&2; exit 3"), dict(os.environ), 60)
    assert done is not None
    assert (done.returncode, done.stdout, done.stderr) == (3, "out\n", "err\n")


def test_a_late_step_ends_with_its_children(mark: Path) -> None:
    step = shell(f"sleep {LONG} & echo $! > '{mark}'; wait")
    # The time limit may pass before the shell has started its child. Then the file `mark` does not
    # exist, and no process can outlive the step.
    assert StepProcesses().run(step, dict(os.environ), timeout_s=2) is None
    assert not mark.exists() or ends(int(mark.read_text()))


def test_a_finished_step_leaves_no_children(mark: Path) -> None:
    step = shell(f"sleep {LONG} > /dev/null 2>&1 & echo $! > '{mark}'")
    done = StepProcesses().run(step, dict(os.environ), DEADLINE_S)
    assert done is not None and done.returncode == 0
    assert ends(started(mark))


def test_stop_ends_the_running_steps_and_refuses_others(mark: Path) -> None:
    processes = StepProcesses()
    step = shell(f"sleep {LONG} & echo $! > '{mark}'; wait")
    seen: list[subprocess.CompletedProcess[str] | None] = []
    thread = threading.Thread(
        target=lambda: seen.append(processes.run(step, dict(os.environ), DEADLINE_S))
    )
    thread.start()
    child = started(mark)
    processes.stop()
    thread.join(DEADLINE_S)
    assert seen and seen[0] is not None and seen[0].returncode == -signal.SIGKILL
    assert ends(child)
    with pytest.raises(Stopped):
        processes.run(shell("true"), dict(os.environ), DEADLINE_S)


def test_an_import_that_is_ended_leaves_no_process(tmp_path: Path, mark: Path) -> None:
    """In this test, the test part of the golden file starts a process and waits for its end."""
    golden = tmp_path / "golden"
    golden.mkdir()
    waits = (
        "import subprocess\n"
        f"child = subprocess.Popen(['sleep', '{LONG}'])\n"
        f"open({str(mark)!r}, 'w').write(f'{{child.pid}}\\n')\n"
        "child.wait()\n"
    )
    (golden / "waits.py").write_text("import torch\n" + "#" * 146 + "\n" + waits)
    process = subprocess.Popen(
        [sys.executable, str(ROOT / "importers/tritonbench_g.py"), str(golden)]
        + ["--out", str(tmp_path / "suite")]
    )
    child = started(mark)
    process.terminate()
    assert process.wait(DEADLINE_S) == 128 + signal.SIGTERM
    assert ends(child)
