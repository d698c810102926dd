"""Compares the outputs of mutants with those of the honest oracle and of the reference. It does so
without a server, so whether a mutant is harmless does not depend on the server under test.

python tests/cheats/generator/compare_outputs.py FOLDER [DEVICE] < questions

Each line of stdin is a question (see `answers`). For each question, the program forks a process
that prints one JSON object for each case as soon as the result of the case is known, and then
prints a line {"end": STATUS}. If a time limit ends the forked process, only the results of later
cases are lost. FOLDER keeps the oracle's outputs for later questions; several of these programs may
share it.

A forked process runs submissions without a jail: in Triton's interpreter, or on a GPU if DEVICE
names one, for example cuda:0. So this program is only for mutants of Kind.VALUES, which are oracles
of this repository with different arithmetic. While a mutant runs, its time is limited. In the
interpreter its process cannot write files either; on a GPU, Triton's compiler has to write some.
Cases of tests/cheats/cases must never run here."""

from __future__ import annotations

import itertools
import json
import os
import resource
import signal
import sys
import tempfile
import traceback
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[3]
sys.path.insert(0, str(ROOT / "sandbox"))
CPU_S = 100  # the maximum processor time of one comparison, in seconds
MORE_S = 4  # the maximum time for all cases that the device does not judge, in seconds
SEEDS = (11, 12)  # for the inputs of each case that the device judges
# If the device does not judge a case, the case is compared only within these limits.
MOST_BYTES = 16 << 20
MOST_FLOPS = 64 << 20
ERROR_CHARS = 600  # of a traceback
ORDER = ("same", "tolerated", "wrong")


def _prepare(cache: str, device: str) -> None:
    import torch

    torch.set_num_threads(1)
    torch.use_deterministic_algorithms(True, warn_only=True)
    torch.utils.deterministic.fill_uninitialized_memory = True
    if device == "cpu":
        _prepare_interpreter(cache)
    else:
        os.environ["TRITON_CACHE_DIR"] = cache


def _prepare_interpreter(cache: str) -> None:
    from harness import triton_adapter
    from harness.entry import fake_cuda
    from harness.entry.refusals import Refusals
    from harness.triton_adapter.hardware import as_hardware

    fake_cuda.stub_functions("cuda:90")
    triton_adapter.install_driver("cuda:90", None, cache)
    triton_adapter.patch_autotuner(None, 0)
    triton_adapter.switch_to_interpreter()
    as_hardware(Refusals())


def _load(path: Path, entry: str) -> Any:
    """Runs the source in `path` and returns its entry function. A file is needed, because Triton
    reads the text of kernels from the file."""
    space: dict[str, Any] = {"__name__": path.stem, "__file__": str(path)}
    exec(compile(path.read_text(encoding="utf-8"), str(path), "exec"), space)
    return space[entry]


def _outputs(operator: Any, case: Any, entry: Any, arguments: dict[str, Any]) -> list[Any]:
    import torch

    own = {k: v.clone() if isinstance(v, torch.Tensor) else v for k, v in arguments.items()}
    if case.device.type == "cpu":
        from harness.interpreting.interpret import CudaOnCpu

        with CudaOnCpu():
            made = entry(*own.values())
    else:
        made = entry(*own.values())
    returned = list(made) if isinstance(made, tuple | list) else [made]
    rest = iter(returned)
    return [
        own[o.source] if o.source else next(rest).detach().contiguous() for o in operator.outputs
    ]


Honest = Callable[[Any, int, dict[str, Any]], list[Any]]  # case, seed and arguments to outputs


def _kept_outputs(operator: Any, entry: Any, folder: Path) -> Honest:
    """Returns a function that computes the outputs of the oracle, or reads them from `folder`. A
    GPU computes them each time, because its cases are large and it is fast."""
    import torch

    def outputs(case: Any, seed: int, arguments: dict[str, Any]) -> list[Any]:
        if case.device.type != "cpu":
            return _outputs(operator, case, entry, arguments)
        path = folder / f"{operator.name}-{case.id}-{seed}.pt"
        if path.exists():
            kept: list[Any] = torch.load(path)
            return kept
        made = _outputs(operator, case, entry, arguments)
        unfinished = path.with_suffix(f".{os.getpid()}")
        torch.save(made, unfinished)
        unfinished.rename(path)
        return made

    return outputs


def _verdict(operator: Any, case: Any, seed: int, honest: Honest, mutant: Any) -> str:
    """Returns `same`, `tolerated` or `wrong`."""
    import torch
    from harness.judging.compare import compare
    from harness.judging.rules import rules_for
    from harness.wire.tensors import bits

    arguments = operator.inputs(case, seed)
    by_honest = honest(case, seed, arguments)
    by_mutant = _outputs(operator, case, mutant, arguments)
    if all(
        a.shape == b.shape and a.dtype == b.dtype and torch.equal(bits(a), bits(b))
        for a, b in zip(by_honest, by_mutant, strict=True)
    ):
        return "same"
    right = operator.expected(case, arguments)
    return "tolerated" if compare(rules_for(operator, case), right, by_mutant, None).ok else "wrong"


def answers(question: dict[str, Any], folder: Path, device: str) -> Iterator[dict[str, str]]:
    """Yields the result of each case that the device judges. Then yields results of other cases,
    while there is time and no result is wrong. `question` contains the operator's `folder`, the
    sources `honest` and `mutant`, and in `judged` the ids of the cases that the device judges."""
    from harness.operator import Operator

    operator = Operator.load(Path(question["folder"]))
    with tempfile.TemporaryDirectory(dir=folder) as sources:
        paths = [Path(sources) / f"{name}.py" for name in ("honest", "mutant")]
        for path in paths:
            path.write_text(question[path.stem], encoding="utf-8")
        oracle = _load(paths[0], operator.spec["entry"])
        wires = operator.spec["cases"]
        judged = [operator.case(w, device) for w in wires if w["id"] in question["judged"]]
        honest = _kept_outputs(operator, oracle, folder)
        for case, seed in itertools.product(judged, SEEDS):
            honest(case, seed, operator.inputs(case, seed))
        limit = resource.getrlimit(resource.RLIMIT_FSIZE)
        if device == "cpu":
            resource.setrlimit(resource.RLIMIT_FSIZE, (0, limit[1]))
        try:
            mutant = _load(paths[1], operator.spec["entry"])
            said = "same"
            for case in judged:
                found = [_verdict(operator, case, seed, honest, mutant) for seed in SEEDS]
                said = max(said, *found, key=ORDER.index)
                yield {"case": case.id, "said": max(found, key=ORDER.index)}
            if said == "wrong":
                return
            signal.setitimer(signal.ITIMER_REAL, MORE_S)  # at this time the signal ends the process
            others = [wire for wire in wires if wire["id"] not in question["judged"]]
            for wire in [*others, *_crossed(wires, question["judged"])]:
                if tried := _tried(operator, wire, device, oracle, mutant):
                    yield {"case": wire["id"], "said": tried}
                    if tried == "wrong":
                        break
            signal.setitimer(signal.ITIMER_REAL, 0)
        finally:
            resource.setrlimit(resource.RLIMIT_FSIZE, limit)


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


def _tried(operator: Any, wire: dict[str, Any], device: str, oracle: Any, mutant: Any) -> str:
    """Returns the result of a case, or an empty string if the case is not compared. The reason
    is that the case is too large or in bfloat16, that the oracle is wrong in it, or that the
    lengths of its axes do not fit together."""
    from harness.judging.compare import compare
    from harness.judging.rules import rules_for

    case = operator.case(wire, device)
    try:
        if operator.cost(case).bytes > MOST_BYTES or operator.cost(case).flops > MOST_FLOPS:
            return ""
        if device == "cpu" and str(case.dtype) == "torch.bfloat16":
            return ""
        arguments = operator.inputs(case, SEEDS[0])
        right = operator.expected(case, arguments)
        by_honest = _outputs(operator, case, oracle, arguments)
        if not compare(rules_for(operator, case), right, by_honest, None).ok:
            return ""
    except Exception as error:
        # The program prints stderr of the forked process only for a person who runs it by hand.
        print(f"{wire['id']} is not compared: {error!r}", file=sys.stderr)
        return ""
    return _verdict(operator, case, SEEDS[0], lambda *_: by_honest, mutant)


def _answer(question: dict[str, Any], folder: Path, device: str) -> None:
    """Prints the answers to a question. Runs in a forked process."""
    resource.setrlimit(resource.RLIMIT_CPU, (CPU_S, CPU_S + 5))
    try:
        for line in answers(question, folder, device):
            print(json.dumps(line), flush=True)
    except Exception:
        print(json.dumps({"error": traceback.format_exc()[-ERROR_CHARS:]}), flush=True)


def main(folder: Path, device: str) -> None:
    _prepare(str(folder / f"triton-{os.getpid()}"), device)
    for text in sys.stdin:
        child = os.fork()
        if child == 0:
            _answer(json.loads(text), folder, device)
            os._exit(0)
        _, status = os.waitpid(child, 0)
        print(json.dumps({"end": status}), flush=True)


if __name__ == "__main__":
    chosen = sys.argv[2] if len(sys.argv) > 2 else "cpu"
    if chosen == "cpu":
        os.environ["TRITON_INTERPRET"] = "1"
    main(Path(sys.argv[1]), chosen)
