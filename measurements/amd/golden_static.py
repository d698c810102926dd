"""Compiles the golden files of TritonBench-G for AMD's targets, and compares the metadata of each code
object with the launch plan, as static_figures.py does for the oracles.

    python measurements/amd/golden_static.py DIR measurements/results/amd-golden-static.json \\
        [--target hip:gfx942 ...] [--minutes 60] [--only FILE ...]

DIR contains the golden files: `data/TritonBench_G_v1` of TritonBench's repository. No golden file is
part of this repository. Each file runs in a process of its own, with a time limit and in no jail, so
run only files that you trust. A later call with the same result file adds what is not in it. Nothing
runs on a GPU."""

from __future__ import annotations

import argparse
import collections
import json
import os
import select
import signal
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent.parent
sys.path[:0] = [str(ROOT / one) for one in ("measurements", "sandbox")]
sys.path.insert(0, str(Path(__file__).resolve().parent))

from environment import environment  # noqa: E402
from static_figures import TARGETS, kernels_of  # noqa: E402
from tritonbench_g import guard  # noqa: E402

KEPT = ("kernel", "threads", "vector_registers", "lds_bytes", "vector_spills", "scratch_bytes")


def checked(file: Path, target: str) -> dict[str, Any]:
    """Records the calls of a golden file, in this process, and compares each plan."""
    import torch
    from golden_file import run
    from golden_kernel_part import KernelPart

    kernels: dict[str, dict[str, Any]] = {}

    class Checked(KernelPart):
        def _once(self, *arguments: Any) -> tuple[Any, dict[str, Any]]:
            result, report = super()._once(*arguments)
            for one in kernels_of(target, self._recorder.plan):
                key = json.dumps([one[name] for name in KEPT])
                kernels[key] = {name: one[name] for name in (*KEPT, "differences")}
            return result, report

    torch.manual_seed(0)
    report = run(file, target, None, None, True, Checked)
    answer: dict[str, Any] = {
        "recorded": report["recorded"],
        "calls": len(report["calls"]),
        "kernels": list(kernels.values()),
    }
    if not report["recorded"]:
        answer["reason"] = f"{report.get('kind')}: {report.get('message')}"[:300]
    return answer


def in_child(file: Path, target: str, timeout_s: float) -> dict[str, Any]:
    """Records in a forked process, because recording replaces Triton's driver."""
    read, write = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(read)
        os.setsid()
        with tempfile.TemporaryDirectory(prefix="assay-golden-") as scratch:
            tempfile.tempdir = scratch
            try:
                answer = checked(file, target)
            except BaseException as error:
                answer = {
                    "recorded": False,
                    "kernels": [],
                    "reason": f"{type(error).__name__}: {error}"[:300],
                }
        with os.fdopen(write, "w") as stream:
            json.dump(answer, stream)
        os._exit(0)  # a normal exit may crash on objects that a recording leaves
    os.close(write)
    poll = select.poll()
    poll.register(read, select.POLLIN | select.POLLHUP)
    in_time = bool(poll.poll(timeout_s * 1000))
    if not in_time:
        os.killpg(child, signal.SIGKILL)
    with os.fdopen(read) as stream:
        text = stream.read()
    _, status = os.waitpid(child, 0)
    if text:
        found: dict[str, Any] = json.loads(text)
        return found
    ended = f"the process ended with status {status}"
    reason = ended if in_time else f"it took over {timeout_s:.0f} s"
    return {"recorded": False, "kernels": [], "reason": reason}


def summary(files: dict[str, dict[str, Any]]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for target in TARGETS:
        rows = [row[target] for row in files.values() if target in row]
        kernels = [kernel for row in rows for kernel in row["kernels"]]
        texts = [text for kernel in kernels for text in kernel["differences"]]
        found[target] = {
            "files": len(rows),
            "recorded": sum(row["recorded"] for row in rows),
            "kernels": len(kernels),
            "kernels_with_differences": sum(bool(kernel["differences"]) for kernel in kernels),
            "kernels_with_spills": sum(kernel["vector_spills"] > 0 for kernel in kernels),
            # The beginning of a text, without its figures, is the kind of a difference.
            "differences": dict(
                collections.Counter(" ".join(text.split()[:4]) for text in texts).most_common()
            ),
        }
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n\n")[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("result", type=Path)
    parser.add_argument("--target", action="append", choices=TARGETS)
    parser.add_argument("--minutes", type=float, default=120, help="the time limit of all")
    parser.add_argument("--timeout-s", type=float, default=300, help="the time limit of a file")
    parser.add_argument("--only", nargs="*", default=[], help="names of files")
    options = parser.parse_args()
    targets = options.target or list(TARGETS)
    names = sorted(file.name for file in options.folder.glob("*.py"))
    names = [name for name in names if not options.only or name in options.only]
    if not names:
        parser.error(f"{options.folder}: no such Python file")
    files: dict[str, dict[str, Any]] = {}
    if options.result.exists():
        files = json.loads(options.result.read_text())["files"]
    end = time.monotonic() + 60 * options.minutes
    os.environ.setdefault("ASSAY_FAKE_CUDA_GUARD", guard())
    # A module of the importer has the name of a module that this file has imported already.
    sys.path.insert(0, str(ROOT / "importers/tritonbench"))
    import golden_file  # noqa: F401  (the children inherit the imports)

    for target in targets:
        for name in names:
            if target in files.get(name, {}) or time.monotonic() > end:
                continue
            answer = in_child(options.folder / name, target, options.timeout_s)
            files.setdefault(name, {})[target] = answer
            result = {
                "measured_on": "compiled without a GPU; nothing was run",
                "environment": environment(),
                "of_files": len(names),
                "summary": summary(files),
                "files": dict(sorted(files.items())),
            }
            options.result.write_text(json.dumps(result, indent=1) + "\n")
            print(target, name, answer["recorded"], len(answer["kernels"]), flush=True)
    print(json.dumps(summary(files), indent=1))


if __name__ == "__main__":
    main()
