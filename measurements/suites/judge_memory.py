"""Measures how much memory a judge needs for a large case of a suite like KernelBench, as a multiple
of the bytes of the case's inputs and outputs.

    python measurements/suites/judge_memory.py --out measurements/results/judge-memory-cpu.json
    python measurements/suites/judge_memory.py --tree OTHER_CHECKOUT --out other.json

No GPU is needed. The judge's code is the same on every device, so the tensors that it holds at once
are the same, too. On a CPU the largest resident set shows them, because PyTorch gives a large tensor
back to the system as soon as it is freed. On a GPU, PyTorch's cache may hold more (device_room.py).
The operator is a ReLU of one float32 tensor, as in KernelBench's `level1_19_relu`, whose tolerance is
relative. Each step runs in a process of its own:

    ahead   the inputs, and the references that the judge computes before it is asked
    round   the inputs, and one round of the host tier (harness/judging/host_rounds.py)
    round_without_float64  the same for a case that is too large for a reference in float64
    plan    the inputs, and a comparison of outputs that are in a memory file

All steps but `ahead` include the memory that judge and candidate share, or the memory file.
The candidate needs no memory of its own here."""

from __future__ import annotations

import argparse
import json
import os
import socket
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT / "measurements"))

from environment import environment  # noqa: E402

STEPS = ("ahead", "round", "round_without_float64", "plan")
ROWS, SMALL = 4096, 64
ROUND_S = 300.0
SPEC = """
name = "relu"
imported = true
baseline = "torch_eager"
dialect = "triton"
family = "fused"
[[arguments]]
name = "x"
type = "tensor"
dtype = "float32"
shape = ["rows", "cols"]
[[outputs]]
name = "y"
dtype = "float32"
shape = ["rows", "cols"]
max_abs_error = 0.0001
relative = true
"""
REFERENCE = """
import torch
from harness.operator import Cost
def inputs(case, rng): return {"x": rng.normal((case.axes["rows"], case.axes["cols"]))}
def reference(x): return torch.relu(x)
def cost(case): return Cost(bytes=1, flops=1)
"""


def peak_bytes() -> int:
    """Returns the largest resident set since the last reset()."""
    lines = Path("/proc/self/status").read_text(encoding="ascii").splitlines()
    return int(next(line for line in lines if line.startswith("VmHWM:")).split()[1]) << 10


def reset() -> None:
    Path("/proc/self/clear_refs").write_text("5", encoding="ascii")


def measured(step: str, columns: int) -> dict[str, Any]:
    """Does one step in this process. `sandbox` is importable."""
    import torch
    from harness.judging import case_state
    from harness.judging.case_state import CaseState
    from harness.judging.host_rounds import HostCase
    from harness.operator import Operator
    from harness.wire import shared_memory
    from harness.wire.rounds import CandidateLine, JudgeLine
    from harness.wire.tensors import MappedFile, aligned, create_memfd

    torch.set_num_threads(1)  # as in a judge
    side = ROWS * columns * 4
    ours, theirs = socket.socketpair()

    def candidate() -> None:
        line = CandidateLine(theirs)
        while (round_ := line.wait()) is not None:
            go, handle = round_
            memory = shared_memory.attach(torch.device("cpu"), handle, go.size)
            x, y = (memory.bytes[at : at + side].view(torch.float32) for at in (0, aligned(side)))
            torch.clamp_min(x, 0.0, out=y)
            line.done()

    is_round = step.startswith("round")
    child = os.fork() if is_round else 0
    if is_round and child == 0:
        candidate()
        os._exit(0)
    with tempfile.TemporaryDirectory() as folder:
        Path(folder, "spec.toml").write_text(SPEC, encoding="utf-8")
        Path(folder, "reference.py").write_text(REFERENCE, encoding="utf-8")
        operator = Operator.load(Path(folder))

    def state_of(width: int) -> CaseState:
        wire = {"id": "one", "dtype": "float32", "distribution": "normal"}
        return CaseState(
            operator, operator.case({**wire, "axes": {"rows": ROWS, "cols": width}}, "cpu")
        )

    state_of(SMALL).compute_references()  # loads what PyTorch loads later
    if step == "round_without_float64":
        vars(case_state)["has_room_for_float64"] = lambda *_: False
    reset()
    before = peak_bytes()
    begin = time.perf_counter()
    state = state_of(columns)
    if step == "ahead":
        state.compute_references()
    elif is_round:
        case = HostCase(state, JudgeLine(ours), ROUND_S)
        seen = case.judge(timed=False)
        assert seen.result.ok, seen.result
        os.waitpid(child, 0)
    else:
        fd = create_memfd("assay-outputs", side)
        with MappedFile(fd, writable=True) as file:
            given = state.arguments["x"].reshape(-1)
            torch.clamp_min(given, 0.0, out=file.bytes(0, side).view(torch.float32))
        form = {"shape": [ROWS, columns], "strides": [columns, 1], "offset": 0, "nbytes": side}
        wire = {"name": "y", "kind": "tensor", "dtype": "float32", **form}
        assert state.compare([wire], fd, keep=True).ok
    peak = peak_bytes() - before
    return {
        "step": step,
        "case_bytes": 2 * side,
        "peak_bytes": peak,
        "peak_per_case_byte": round(peak / (2 * side), 2),
        "seconds": round(time.perf_counter() - begin, 2),
    }


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--tree", type=Path, default=ROOT, help="the checkout that is measured")
    parser.add_argument("--mib", type=int, default=256, help="of inputs and outputs together")
    parser.add_argument("--out", type=Path)
    parser.add_argument("--step", choices=STEPS, help="only one step, in this process")
    options = parser.parse_args()
    columns = (options.mib << 20) // (2 * 4 * ROWS)
    if options.step:
        sys.path.insert(0, str(options.tree / "sandbox"))
        print(json.dumps(measured(options.step, columns)))
        return 0
    steps = []
    for step in STEPS:
        command = [sys.executable, __file__, "--step", step, "--tree", str(options.tree)]
        done = subprocess.run(
            [*command, "--mib", str(options.mib)], check=True, capture_output=True, text=True
        )
        steps.append(json.loads(done.stdout))
        print(json.dumps(steps[-1]))
    if options.out:
        result = {"what": __doc__, "environment": environment(), "steps": steps}
        options.out.write_text(json.dumps(result, indent=1) + "\n", encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
