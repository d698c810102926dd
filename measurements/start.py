"""Measures the first verdict after a start: `assay eval` of the oracle of vector_add, from the start
of the program to its end, and the processor time of the program with all its processes.

    python measurements/start.py --samples 9 --before OLD_BINARY --before-root OLD_TREE \\
        --out measurements/results/start-cpu2.json

With `--before`, the script measures two binaries in turns, the one of this build and the older one
that the option names, so that a drift of the machine does not favour one of them. `--before-root`
is the source tree of the older binary. The Python files of its harness must be compiled, as `./run
setup` compiles them, because reading source files takes longer.

With `--processes`, the script starts the zygote and the judge alone, outside of jails, and measures
the zygote until it is ready and the judge until it has described a case. `main_s` is the processor
time of the main thread: if every process and thread has a core of its own, the process is ready
after about this time. `--python` names the interpreter of both processes, so that the script can
measure another release of torch."""

from __future__ import annotations

import argparse
import json
import os
import resource
import socket
import statistics
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

from environment import environment

ROOT = Path(__file__).resolve().parent.parent
sys.path.append(str(ROOT / "sandbox"))
from harness.wire.frames import Channel  # noqa: E402

OPERATOR = "vector_add"
SOCKET = {"zygote": "--control-fd", "judge": "--socket-fd"}  # the option that names the socket


def processor_s() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def one(binary: str, root: Path, device: str) -> dict[str, Any]:
    oracle = next((root / "operators").glob(f"*/{OPERATOR}/oracle.py"))
    command = [binary, "eval", OPERATOR, str(oracle), "--device", device, "--json"]
    surroundings = {**os.environ, "ASSAY_ROOT": str(root), "ASSAY_PYTHON": sys.executable}
    used, begin = processor_s(), time.monotonic()
    done = subprocess.run(command, env=surroundings, capture_output=True, text=True)
    wall_s = time.monotonic() - begin
    verdict = json.loads(done.stdout)
    if verdict.get("outcome") != "pass":
        raise SystemExit(f"the oracle does not pass: {done.stdout[:500]} {done.stderr[-500:]}")
    return {
        "wall_s": round(wall_s, 3),
        "processor_s": round(processor_s() - used, 3),
        "stage_ms": verdict["stage_ms"],
    }


def describe(root: Path) -> dict[str, Any]:
    folder = next((root / "operators").glob(f"*/{OPERATOR}"))
    axes = {"n": 4112}
    case = {"id": "small", "axes": axes, "dtype": "float32", "distribution": "normal"}
    wanted = {"job": "j", "operator_dir": str(folder), "cases": [case], "without_inputs": True}
    return {"type": "describe", **wanted}


def until_ready(role: str, root: Path, python: str) -> dict[str, Any]:
    """Starts the zygote or a judge, and measures the zygote until it sends `ready`, and the judge
    until it has described its first case. (Some imports of a judge may be in the description.)"""
    ours, theirs = socket.socketpair()
    main = str(root / "sandbox/harness/main.py")
    command = [python, "-I", "-B", "-u", main, role, SOCKET[role], str(theirs.fileno())]
    begin = time.monotonic()
    process = subprocess.Popen(command, pass_fds=[theirs.fileno()])
    theirs.close()
    channel = Channel(ours)
    if channel.receive() is None:
        raise SystemExit(f"the {role} did not become ready")
    if role == "judge":
        channel.send(describe(root))
        while (answer := channel.receive()) is not None and answer.type == "begun":
            pass
        if answer is None or answer.type != "described":
            raise SystemExit("the judge described nothing")
        answer.close()
    wall_s = time.monotonic() - begin
    folder = Path("/proc") / str(process.pid)
    main_ns = int((folder / f"task/{process.pid}/schedstat").read_text().split()[0])
    fields = (folder / "stat").read_text().rpartition(")")[2].split()
    used = (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
    channel.close()
    process.wait()
    return {
        "wall_s": round(wall_s, 3),
        "main_s": round(main_ns / 1e9, 3),
        "processor_s": round(used, 2),
    }


def torch_of(python: str) -> str:
    code = "import torch, triton; print('torch', torch.__version__, 'triton', triton.__version__)"
    return subprocess.run([python, "-c", code], capture_output=True, text=True).stdout.strip()


def measure_processes(roots: dict[str, Path], python: str, count: int, out: Path) -> None:
    result: dict[str, Any] = {"environment": environment(), "python": torch_of(python)}
    for role in SOCKET:
        samples: dict[str, list[dict[str, Any]]] = {name: [] for name in roots}
        for root in roots.values():
            until_ready(role, root, python)  # brings the files into memory, and is not counted
        for _ in range(count):
            for name, root in roots.items():
                samples[name].append(until_ready(role, root, python))
        result[role] = {}
        for name, of in samples.items():
            medians = {key: round(statistics.median(one[key] for one in of), 3) for key in of[0]}
            print(f"{role}, {name}: {medians}")
            result[role][name] = {**medians, "samples": of}
    out.write_text(json.dumps(result, indent=1) + "\n")


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--samples", type=int, default=9, help="for each binary")
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--binary", default=str(ROOT / "build/release/bin/assay"))
    parser.add_argument("--before", help="the binary to compare with")
    parser.add_argument("--before-root", type=Path, help="the source tree of that binary")
    parser.add_argument("--processes", action="store_true", help="measure zygote and judge alone")
    parser.add_argument("--python", default=sys.executable, help="with --processes")
    parser.add_argument("--out", type=Path, required=True)
    options = parser.parse_args()
    if options.processes:
        roots = {"after": ROOT}
        if options.before_root:
            roots = {"before": options.before_root.resolve()} | roots
        measure_processes(roots, options.python, options.samples, options.out)
        return
    if (options.before is None) != (options.before_root is None):
        parser.error("--before needs --before-root, and the reverse")
    binaries = {"after": (options.binary, ROOT)}
    if options.before:
        binaries = {"before": (options.before, options.before_root.resolve())} | binaries
    samples: dict[str, list[dict[str, Any]]] = {name: [] for name in binaries}
    for binary, root in binaries.values():
        one(binary, root, options.device)  # brings the files into memory, and is not counted
    for _ in range(options.samples):
        for name, (binary, root) in binaries.items():
            samples[name].append(one(binary, root, options.device))
    result: dict[str, Any] = {"environment": environment(), "device": options.device}
    for name, of in samples.items():
        medians = {
            key: round(statistics.median(sample[key] for sample in of), 3)
            for key in ("wall_s", "processor_s")
        }
        print(f"{name}: {medians}")
        result[name] = {**medians, "samples": of}
    options.out.write_text(json.dumps(result, indent=1) + "\n")


if __name__ == "__main__":
    main()
