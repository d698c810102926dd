"""Compares the outputs of a mutant with those of the honest oracle and of the reference. It does so
without a server, so whether a mutant is harmless does not depend on the server under test.

python tests/cheats/generator/compare_outputs.py < question.json

It prints one JSON object for each case as soon as the result of the case is known. If a time limit
ends the program, only the results of later cases are lost.

It runs submissions in Triton's interpreter without a jail. So it is only for mutants of
Kind.VALUES, which are oracles of this repository with different arithmetic. The process cannot
write files, and its processor time is limited. Cases of tests/cheats/cases must never run here."""

from __future__ import annotations

import itertools
import json
import os
import resource
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[3]
sys.path.insert(0, str(ROOT / "sandbox"))
CPU_S = 100  # the maximum processor time of one comparison, in seconds
MORE_S = 10  # after this time, in seconds, no case starts that the device does not judge
SEEDS = (11, 12)  # for the inputs of each case that the device judges
# If the device does not judge a case, the case is compared only within these limits.
MOST_BYTES = 16 << 20
MOST_FLOPS = 64 << 20
ORDER = ("same", "tolerated", "wrong")


def _prepare(cache: str) -> None:
    import torch
    from harness import triton_adapter
    from harness.entry import fake_cuda
    from harness.entry.refusals import Refusals
    from harness.triton_adapter.hardware import as_hardware

    torch.set_num_threads(1)
    fake_cuda.stub_functions("cuda:90")
    triton_adapter.install_driver("cuda:90", None, cache)
    triton_adapter.patch_autotuner(None, 0)
    triton_adapter.switch_to_interpreter()
    as_hardware(Refusals())
    torch.use_deterministic_algorithms(True, warn_only=True)
    torch.utils.deterministic.fill_uninitialized_memory = True


def _load(path: Path, entry: str) -> Any:
    """Runs the source in `path` and returns its entry function. A file is needed, because Triton
    reads the text of kernels from the file."""
    space: dict[str, Any] = {"__name__": path.stem, "__file__": str(path)}
    exec(compile(path.read_text(encoding="utf-8"), str(path), "exec"), space)
    return space[entry]


def _outputs(operator: Any, entry: Any, arguments: dict[str, Any]) -> list[Any]:
    import torch
    from harness.interpreting.interpret import CudaOnCpu

    own = {k: v.clone() if isinstance(v, torch.Tensor) else v for k, v in arguments.items()}
    with CudaOnCpu():
        made = entry(*own.values())
    returned = list(made) if isinstance(made, tuple | list) else [made]
    rest = iter(returned)
    return [
        own[o.source] if o.source else next(rest).detach().contiguous() for o in operator.outputs
    ]


def _verdict(operator: Any, case: Any, seed: int, honest: Any, mutant: Any) -> str:
    """Returns `same`, `tolerated` or `wrong`."""
    import torch
    from harness.judging.case_state import rules_for
    from harness.judging.compare import compare
    from harness.wire.tensors import bits

    arguments = operator.inputs(case, seed)
    right = operator.expected(case, arguments)
    by_honest = _outputs(operator, honest, arguments)
    by_mutant = _outputs(operator, mutant, arguments)
    if honest is not mutant and all(
        a.shape == b.shape and a.dtype == b.dtype and torch.equal(bits(a), bits(b))
        for a, b in zip(by_honest, by_mutant, strict=True)
    ):
        return "same"
    is_right = compare(rules_for(operator, case), right, by_mutant, None).ok
    return "tolerated" if is_right else "wrong"


def answers(question: dict[str, Any]) -> Iterator[dict[str, str]]:
    """Yields the result of each case that the device judges. Then yields results of other cases,
    while there is time and no result is wrong. `question` contains the operator's `folder`, the
    sources `honest` and `mutant`, and in `judged` the ids of the cases that the device judges."""
    from harness.operator import Operator

    started = time.monotonic()
    operator = Operator.load(Path(question["folder"]))
    with tempfile.TemporaryDirectory(dir="/dev/shm") as folder:
        paths = [Path(folder) / f"{name}.py" for name in ("honest", "mutant")]
        for path in paths:
            path.write_text(question[path.stem], encoding="utf-8")
        _prepare(folder)
        resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))
        honest, mutant = (_load(path, operator.spec["entry"]) for path in paths)
        wires, is_wrong = operator.spec["cases"], False
        for wire in wires:
            if wire["id"] in question["judged"]:
                case = operator.case(wire, "cpu")
                said = [_verdict(operator, case, seed, honest, mutant) for seed in SEEDS]
                is_wrong = is_wrong or "wrong" in said
                yield {"case": wire["id"], "said": max(said, key=ORDER.index)}
        others = [wire for wire in wires if wire["id"] not in question["judged"]]
        for wire in [*others, *_crossed(wires, question["judged"])]:
            if is_wrong or time.monotonic() - started > MORE_S:
                break
            if tried := _tried(operator, wire, honest, mutant):
                is_wrong = tried == "wrong"
                yield {"case": wire["id"], "said": tried}


def _crossed(wires: list[dict[str, Any]], judged: list[str]) -> Iterator[dict[str, Any]]:
    """Yields copies of the first judged case. In each copy, one axis is as long as in a larger case
    that the device does not judge. So a loop over this axis runs as often as in the larger case,
    but the other axes stay short."""
    small = [wire for wire in wires if wire["id"] in judged]
    large = [wire for wire in wires if wire["id"] not in judged]
    for one, other in itertools.product(small[:1], large):
        for axis, length in other["axes"].items():
            if length > one["axes"][axis]:
                name = f"{one['id']} with {axis} = {length}"
                yield {**one, "id": name, "axes": {**one["axes"], axis: length}}


def _tried(operator: Any, wire: dict[str, Any], honest: Any, mutant: Any) -> str:
    """Returns the result of a case, or an empty string if the case is not compared. The reason
    is that the case is too large or in bfloat16, that the oracle is wrong in it, or that the
    lengths of its axes do not fit together."""
    case = operator.case(wire, "cpu")
    try:
        if operator.cost(case).bytes > MOST_BYTES or operator.cost(case).flops > MOST_FLOPS:
            return ""
        if str(case.dtype) == "torch.bfloat16":
            return ""
        if _verdict(operator, case, SEEDS[0], honest, honest) == "wrong":
            return ""
    except Exception as error:
        # The test shows stderr if the comparison as a whole fails.
        print(f"{wire['id']} is not compared: {error!r}", file=sys.stderr)
        return ""
    return _verdict(operator, case, SEEDS[0], honest, mutant)


if __name__ == "__main__":
    resource.setrlimit(resource.RLIMIT_CPU, (CPU_S, CPU_S + 5))
    os.environ["TRITON_INTERPRET"] = "1"
    for line in answers(json.load(sys.stdin)):
        print(json.dumps(line), flush=True)
