"""Tests that golden files are imported in a jail: no process outlives its import, a file cannot
touch the machine, and an import that ends early goes on where it stopped."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent.parent
for folder in ("sandbox", "importers/common", "importers/tritonbench"):
    sys.path.insert(0, str(ROOT / folder))

import import_jail  # noqa: E402
from golden_folder import GEAK_TRITONBENCH  # noqa: E402
from harness.entry.fake_cuda import GUARD_LIBRARY  # noqa: E402
from tritonbench_g import index_note  # noqa: E402

SCRIPT = ROOT / "importers/tritonbench/tritonbench_g.py"
SEPARATOR = "\n" + "#" * 146 + "\n"
DEADLINE_S = 120
LONG = "600"  # seconds; a test that waits for such a process fails by its own deadline
GOOD = (
    """
import torch
import triton
import triton.language as tl

@triton.jit
def copy_kernel(x, y, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(y + i, tl.load(x + i, mask=i < n), mask=i < n)

def copy(x):
    y = torch.empty_like(x)
    copy_kernel[(triton.cdiv(x.numel(), 128),)](x, y, x.numel(), BLOCK=128)
    return y
"""
    + SEPARATOR
    + "copy(torch.randn(100, device='cuda'))\n"
)


def golden(folder: Path, **files: str) -> Path:
    folder.mkdir()
    for name, text in files.items():
        (folder / f"{name}.py").write_text(text)
    return folder


def run(folder: Path, out: Path, *options: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, str(SCRIPT), str(folder), "--out", str(out), *options]
    return subprocess.run(command, capture_output=True, text=True, timeout=DEADLINE_S)


def reports(out: Path) -> dict[str, Any]:
    return {one["file"]: one for one in json.loads((out / "import.json").read_text())["files"]}


def with_mark(mark: str) -> list[int]:
    """Returns the ids of the processes that have `mark` as an argument."""
    found = []
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            if mark.encode() in path.read_bytes().split(b"\0"):
                found.append(int(path.parent.name))
        except OSError:
            continue  # the process has ended
    return found


def wait_until(condition: Any) -> None:
    end = time.monotonic() + DEADLINE_S
    while not condition():
        assert time.monotonic() < end, "it did not happen"
        time.sleep(0.02)


def sleeper(mark: str) -> str:
    """Returns a golden file that starts a process and waits for its end. The process's arguments
    contain `mark`."""
    program = f"import time; time.sleep({LONG})"
    words = f"[sys.executable, '-c', {program!r}, {mark!r}]"
    return f"import subprocess, sys{SEPARATOR}subprocess.Popen({words}).wait()\n"


def test_a_late_file_ends_with_its_children_and_others_are_kept(tmp_path: Path) -> None:
    mark = f"late-{os.getpid()}-{time.monotonic_ns()}"
    folder = golden(tmp_path / "golden", late=sleeper(mark), good=GOOD)
    done = run(folder, tmp_path / "suite", "--jobs", "2", "--timeout-s", "15")
    assert done.returncode == 0, done.stderr
    report = reports(tmp_path / "suite")["late.py"]
    assert report["tier"] == "neither"
    assert report["reason"] == "timeout: it took over 15 s, in the step `trace`"
    assert "timeout (1 file): --timeout-s N gives each file more time" in done.stdout
    assert reports(tmp_path / "suite")["good.py"]["tier"] == "plan"
    assert with_mark(mark) == []


def test_an_import_that_is_ended_leaves_no_process_and_goes_on_later(tmp_path: Path) -> None:
    mark = f"ended-{os.getpid()}-{time.monotonic_ns()}"
    out = tmp_path / "suite"
    # The larger file is imported first. It is `good.py`, so the other one is running at the end.
    folder = golden(tmp_path / "golden", good=GOOD, waits=sleeper(mark))
    process = subprocess.Popen([sys.executable, str(SCRIPT), str(folder), "--out", str(out)])
    wait_until(lambda: with_mark(mark))
    process.terminate()
    assert process.wait(DEADLINE_S) == 128 + signal.SIGTERM
    wait_until(lambda: not with_mark(mark))
    assert list(reports(out)) == ["good.py"]
    assert (out / "standard/good/spec.toml").exists() and not (out / ".staging").exists()
    written = (out / "standard/good/spec.toml").stat().st_mtime_ns
    again = run(folder, out, "--timeout-s", "5")
    assert "1 files were imported earlier; 1 are left" in again.stdout, again.stdout + again.stderr
    assert set(reports(out)) == {"good.py", "waits.py"}
    assert (out / "standard/good/spec.toml").stat().st_mtime_ns == written
    (folder / "good.py").write_text(GOOD + "\n")  # a file that has changed is imported again
    run(folder, out, "--timeout-s", "5")
    assert (out / "standard/good/spec.toml").stat().st_mtime_ns > written


def test_a_file_cannot_touch_the_machine(tmp_path: Path) -> None:
    canary = tmp_path / "canary"
    secret = tmp_path / "secret"
    secret.write_text("s")
    folder = golden(
        tmp_path / "golden",
        writes=f"import torch{SEPARATOR}open({str(canary)!r}, 'w').write('x')\n",
        reads=f"import torch{SEPARATOR}open({str(secret)!r}).read()\n",
        connects=f"import socket{SEPARATOR}socket.create_connection(('127.0.0.1', 9), 1)\n",
        signals=f"import os{SEPARATOR}os.kill({os.getpid()}, 9)\n",
        forges=f"import os{SEPARATOR}[os.write(fd, b'x' * 64) for fd in range(3, 9)]\n",
    )
    done = run(folder, tmp_path / "suite", "--jobs", "2")
    assert done.returncode == 0, done.stderr
    found = reports(tmp_path / "suite")
    assert not canary.exists()
    assert {report["tier"] for report in found.values()} == {"neither"}, found
    assert "No such file or directory" in found["writes.py"]["reason"]
    assert "No such file or directory" in found["reads.py"]["reason"]
    assert "No such process" in found["signals.py"]["reason"]
    assert all(report["reason"] for report in found.values())


# Maps each file to its text, the kind of its failure, and words of the reason.
FAILURES = {
    "no_module": ("import no_such_module" + SEPARATOR, "module_not_found", "No module named"),
    "old_triton": (
        "import triton.ops\ntriton.ops.matmul" + SEPARATOR,
        "module_not_found",
        "triton.ops",
    ),
    "aborts": (f"import os{SEPARATOR}os.abort()\n", "crash", "SIGABRT"),
    "killed": (f"import os{SEPARATOR}os.kill(os.getpid(), 9)\n", "crash", "may lack memory"),
    "leaves": (f"import os{SEPARATOR}os._exit(3)\n", "crash", "exit status 3"),
    "exits": (f"import sys{SEPARATOR}sys.exit(0)\n", "protocol_error", "called exit(0)"),
    "calls_nothing": (f"x = 1{SEPARATOR}y = x\n", "no_call", "called nothing"),
    "no_python": (f"def f(:{SEPARATOR}\n", "syntax_error", "line 1"),
    "one_part": ("import torch\n", "unreadable", "no line of '#'"),
    "empty": ("", "unreadable", "no line of '#'"),
    "big": (f"x = 1{SEPARATOR}bytearray(4 << 30)\n", "memory_limit", "MemoryError"),
}


def test_each_failure_has_its_reason_and_its_remedy(tmp_path: Path) -> None:
    folder = golden(tmp_path / "golden", **{name: text for name, (text, *_) in FAILURES.items()})
    done = run(folder, tmp_path / "suite", "--memory-mib", "2048", "--jobs", "2")
    assert done.returncode == 0, done.stderr
    found = reports(tmp_path / "suite")
    for name, (_, kind, words) in FAILURES.items():
        report = found[f"{name}.py"]
        assert (report["tier"], report["kind"], report["operators"]) == ("neither", kind, [])
        assert words in report["reason"] and report["reason"] in done.stdout, report
    assert "memory_limit (1 file): --memory-mib N gives" in done.stdout
    assert "module_not_found (2 files): install the module" in done.stdout
    assert not (tmp_path / "suite/standard").exists()


def test_names_that_are_not_regular_files(tmp_path: Path) -> None:
    folder = golden(tmp_path / "golden", good=GOOD)
    (folder / "folder.py").mkdir()
    (folder / "link.py").symlink_to("/etc/hostname")
    (folder / "latin.py").write_bytes(b"\xff" + SEPARATOR.encode())
    done = run(folder, tmp_path / "suite")
    assert done.returncode == 0, done.stderr
    found = reports(tmp_path / "suite")
    assert found["good.py"]["tier"] == "plan"
    for name, words in (
        ("folder.py", "not a regular file"),
        ("link.py", "not a regular file"),
        ("latin.py", "cannot be read"),
    ):
        assert found[name]["kind"] == "unreadable" and words in found[name]["reason"]


def test_folders_that_cannot_be_imported(tmp_path: Path) -> None:
    checkout = tmp_path / "checkout"
    checkout.mkdir()
    data = checkout / "data"
    data.mkdir()
    folder = golden(data / "TritonBench_G_v1", good=GOOD)
    index = data / "TritonBench_G_v1.json"
    index.write_text(json.dumps([{"file": "good.py"}, {"file": "gone.py"}]))
    out = tmp_path / "suite"
    for source, options, status, words in (
        (tmp_path / "none", [], 66, "is not a folder"),
        (checkout, [], 66, f"they are in {folder}"),
        (folder, [], 66, "1 of the 2 files that TritonBench_G_v1.json lists: gone.py missing"),
        (folder, ["--only", "god.py"], 66, "has no god.py"),
    ):
        done = run(source, out, *options)
        assert done.returncode == status and words in done.stderr, done.stderr
        assert not out.exists()
    assert run(folder, out, "--only", "good.py").returncode == 0
    index.write_text("[{")
    damaged = run(folder, tmp_path / "other")
    assert damaged.returncode == 65 and "check it out again" in damaged.stderr


def test_suites_that_cannot_be_written(tmp_path: Path) -> None:
    folder = golden(tmp_path / "golden", good=GOOD)
    own = tmp_path / "own"
    own.mkdir()
    (own / "notes.txt").write_text("mine")
    refused = run(folder, own)
    assert refused.returncode == 73 and "name a new folder" in refused.stderr
    assert [path.name for path in own.iterdir()] == ["notes.txt"]
    file = tmp_path / "file"
    file.write_text("")
    assert run(folder, file).returncode == 73
    damaged = tmp_path / "damaged"
    damaged.mkdir()
    (damaged / "import.json").write_text('{"files": [{"file": "../x", "operators": []}]}')
    refused = run(folder, damaged)
    assert refused.returncode == 65 and "is damaged" in refused.stderr


def test_two_imports_into_one_suite(tmp_path: Path) -> None:
    mark = f"first-{os.getpid()}-{time.monotonic_ns()}"
    folder = golden(tmp_path / "golden", waits=sleeper(mark))
    out = tmp_path / "suite"
    first = subprocess.Popen([sys.executable, str(SCRIPT), str(folder), "--out", str(out)])
    try:
        wait_until(lambda: with_mark(mark))
        second = run(folder, out)
        assert second.returncode == 73 and "another import writes to" in second.stderr
    finally:
        first.terminate()
        first.wait(DEADLINE_S)


def test_a_missing_build_is_named(tmp_path: Path) -> None:
    folder = golden(tmp_path / "golden", good=GOOD)
    done = run(folder, tmp_path / "suite", "--build", str(tmp_path))
    assert done.returncode == 69 and "assay-jail, which makes the jail" in done.stderr
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin/assay-jail").touch()
    done = run(folder, tmp_path / "suite", "--build", str(tmp_path))
    assert done.returncode == 69 and f"{GUARD_LIBRARY}, which files need" in done.stderr
    assert "run ./run setup" in done.stderr
    assert import_jail.GUARD_LIBRARY == GUARD_LIBRARY


def test_a_missing_index_is_named(tmp_path: Path) -> None:
    note = index_note(tmp_path / "TritonBench_G_v1", GEAK_TRITONBENCH)
    assert "difficulty.json is missing, so the operators have no descriptions" in note
    assert "all have the difficulty 3" in note and "(git checkout 5761d2124f63)" in note
    (tmp_path / GEAK_TRITONBENCH.index).write_text("[]")
    assert index_note(tmp_path / "TritonBench_G_v1", GEAK_TRITONBENCH) == ""
