"""Finds the cases of imported operators that can be judged without a GPU, in Triton's interpreter.

    found = golden_outputs([suite / "standard" / "softmax"], file)  # in a process of its own
    for reverse in (False, True):  # in a process of its own each
        found = confirmed([suite / "standard" / "softmax"], file, reverse)
    mark(suite / "standard" / "softmax", found["softmax"])

The golden kernel part gives the expected outputs, so its results in the interpreter must be those of
a GPU. A case qualifies if all of these hold:

  - No float type is narrower than float16 or is bfloat16, because the interpreter computes those
    wrongly. Neither an argument nor the text of the kernel part may name such a type.
  - The golden code accesses only memory of its arguments, and needs at most MOST_WORK.
  - The answer is not zero: without a GPU, the results of earlier calls are zeros.
  - The golden code gives the same bits again, and also with another seed it gives an answer. If an
    argument may have positions, this holds for several other seeds.
  - As a submission, the golden code passes the case, with the programs of its grids in order and in
    reverse order.

golden_outputs() computes as the judge does, and confirmed() as a candidate does. They run in
separate processes, because each of them changes Triton in its own way."""

from __future__ import annotations

import re
import signal
import sys
from collections.abc import Iterator
from pathlib import Path
from types import FrameType, ModuleType
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "sandbox"))

import torch  # noqa: E402
from harness.entry.cases import CaseInput  # noqa: E402
from harness.imported.cut_arguments import may_hold_positions  # noqa: E402
from harness.judging.compare import errors  # noqa: E402
from harness.operator import Operator  # noqa: E402
from harness.wire.tensors import bits, name_of  # noqa: E402

SEEDS = (1, 2)
POSITION_SEEDS = (3, 4, 5)  # with which a case must run, too, if it may have positions in a tensor
CASE_CPU_S = 10.0  # of processor time, for all runs of one case in one process
STEP_CPU_S = 30.0  # of processor time, for all cases of a file in one process
_INEXACT = re.compile(r"bfloat16|bf16|float8|fp8|\bfp4\b|float4")
_INEXACT_DTYPES = ("bfloat16", "float8")

Found = dict[str, list[str]]  # the ids of cases, by operator


class TooSlow(BaseException):
    """A case has no time left."""


class WorkClock:
    """Stops the work on a case when its time is up."""

    def __init__(self) -> None:
        signal.signal(signal.SIGPROF, self._ring)
        self._left_s = STEP_CPU_S

    def start(self, limit_s: float = CASE_CPU_S) -> bool:
        """Returns False if the time of the step is used up."""
        if self._left_s <= 0:
            return False
        self._given_s = min(limit_s, self._left_s)
        signal.setitimer(signal.ITIMER_PROF, self._given_s)
        return True

    def stop(self) -> None:
        left_s = signal.setitimer(signal.ITIMER_PROF, 0)[0]
        self._left_s -= max(0.0, self._given_s - left_s)

    @staticmethod
    def _ring(_signal: int, _frame: FrameType | None) -> None:
        raise TooSlow


def golden_outputs(folders: list[Path], file: Path) -> Found:
    """Computes the inputs and the expected outputs of the cases that may qualify, and keeps them in
    `file`."""
    kept: dict[str, dict[str, Any]] = {}
    clock = WorkClock()
    for folder in folders:
        if is_inexact(folder):
            continue
        mark(folder, _public(folder))  # a reference without a GPU is only for marked cases
        operator = Operator.load(folder)
        for wire in operator.spec["cases"]:
            if wire["visibility"] != "public" or not clock.start():
                continue
            try:
                kept.setdefault(folder.name, {})[wire["id"]] = judged_case(operator, wire)
            except (Exception, TooSlow):
                continue  # the case does not qualify, for whatever reason
            finally:
                clock.stop()
        mark(folder, [])
    torch.save(kept, file)
    return {name: list(cases) for name, cases in kept.items()}


def is_inexact(folder: Path) -> bool:
    """Returns True if the kernel part names a type that the interpreter computes wrongly."""
    return _INEXACT.search((folder / "oracle.py").read_text(encoding="utf-8")) is not None


def judged_case(operator: Operator, wire: dict[str, Any]) -> list[dict[str, Any]]:
    """Returns the arguments and the expected outputs for each seed. Raises an exception if the case
    does not qualify."""
    case = operator.case(wire, "cpu")
    made: list[dict[str, Any]] = []
    seeds = list(SEEDS)
    for seed in seeds:
        arguments = operator.inputs(case, seed)
        for value in arguments.values():
            if isinstance(value, torch.Tensor) and name_of(value.dtype).startswith(_INEXACT_DTYPES):
                raise ValueError(f"the interpreter computes {value.dtype} wrongly")
        expected = operator.expected(case, arguments)
        again = operator.expected(case, arguments)
        if not all(
            torch.equal(bits(one), bits(other)) for one, other in zip(expected, again, strict=True)
        ):
            raise ValueError("two runs of the golden code differ")
        masks = operator.open_elements(expected, arguments)
        if _is_blank(operator, arguments, expected):
            raise ValueError("the answer is zero, as it is without any kernel")
        made.append({"arguments": arguments, "expected": expected, "open": masks})
        if seed == SEEDS[0] and any(map(_may_be_position, arguments.values())):
            seeds += POSITION_SEEDS  # a test part may draw a position beyond a tensor
    return made


def _is_blank(operator: Operator, arguments: dict[str, Any], expected: list[torch.Tensor]) -> bool:
    """Returns True if all returned outputs are zero, and the others equal their arguments. The
    arguments may be results of earlier calls, which are zeros without a GPU, and then the answer is
    the same without kernels."""
    return all(
        torch.equal(bits(right), bits(arguments[output.source].reshape(right.shape)))
        if output.source
        else not bool(right.any())
        for output, right in zip(operator.outputs, expected, strict=True)
    )


def _may_be_position(value: Any) -> bool:
    return isinstance(value, torch.Tensor) and may_hold_positions(value)


def confirmed(folders: list[Path], file: Path, reverse: bool) -> Found:
    """Returns those cases of golden_outputs() that the golden code passes as a submission."""
    kept = torch.load(file, weights_only=True)
    by_name = {folder.name: folder for folder in folders}
    found: Found = {}
    runner = _runner(file.parent, reverse)
    clock = WorkClock()
    for name, cases in kept.items():
        operator = Operator.load(by_name[name])
        for number, made in cases.items():
            if not clock.start():
                continue
            try:
                runner.forget_refusals()
                entry = _entry(operator, runner)
                if all(_passes(operator, runner, entry, one) for one in made):
                    found.setdefault(name, []).append(number)
            except (Exception, TooSlow):
                continue  # the case does not qualify, for whatever reason
            finally:
                clock.stop()
    return found


def _runner(folder: Path, reverse: bool) -> Any:
    from harness.interpreting.interpret import InterpretRunner

    return InterpretRunner(str(folder / "triton-cache"), reverse=reverse)


def _entry(operator: Operator, runner: Any) -> Any:
    """Returns the entry function of a submission that is the golden kernel part."""
    module = ModuleType("submission")
    sys.modules["submission"] = module
    with runner.context():
        for file, text in (
            (operator.folder / "oracle.py", None),
            (operator.folder / "adapter.py", operator.spec["adapter"]),
        ):
            source = file.read_text(encoding="utf-8") if text is None else text
            exec(compile(source, str(file), "exec", dont_inherit=True), vars(module))
    return vars(module)[operator.spec["entry"]]


class _GivenCase(CaseInput):
    """A case whose tensors are in this process."""

    def __init__(self, operator: Operator, arguments: dict[str, Any]) -> None:
        roles = {argument.name: argument.role for argument in operator.arguments}
        super().__init__(
            {
                "id": "case",
                "outputs": len(operator.outputs),
                "output_from": [output.source or None for output in operator.outputs],
                "inout": [name for name, role in roles.items() if role == "inout"],
                "structural": [name for name, role in roles.items() if role == "structural"],
                "arguments": list(_wires(arguments)),
            },
            (),
        )
        self._given = arguments

    def tensor(self, wire: dict[str, Any]) -> torch.Tensor:
        return self._given[wire["name"]]  # type: ignore[no-any-return]


def _wires(arguments: dict[str, Any]) -> Iterator[dict[str, Any]]:
    for name, value in arguments.items():
        if isinstance(value, torch.Tensor):
            yield {"name": name, "kind": "tensor", "dtype": name_of(value.dtype)}
        else:
            yield {"name": name, "kind": "scalar", "value": value}


def _passes(operator: Operator, runner: Any, entry: Any, made: dict[str, Any]) -> bool:
    case = _GivenCase(operator, made["arguments"])
    outputs = runner.outputs_of(case, entry)
    masks = made["open"] or [torch.zeros(x.shape, dtype=torch.bool) for x in made["expected"]]
    for spec, output, expected, mask in zip(
        operator.outputs, outputs, made["expected"], masks, strict=True
    ):
        actual = runner.device_values(output)
        if actual.shape != expected.shape or actual.dtype != expected.dtype:
            return False
        wrong = errors(expected.reshape(-1), actual.reshape(-1), 1.0) > spec.max_abs_error
        if bool((wrong & ~mask.reshape(-1)).any()):
            return False
    return True


def _public(folder: Path) -> list[str]:
    text = (folder / "spec.toml").read_text(encoding="utf-8")
    return re.findall(r'\[\[cases\]\]\nid = "(\w+)"\nvisibility = "public"', text)


def mark(folder: Path, cases: list[str]) -> None:
    """Writes into spec.toml which public cases run in the interpreter. Their hidden twins run there
    too. golden_operator.py has written the file."""
    path = folder / "spec.toml"
    names = {name for case in cases for name in (case, f"{case}_again")}

    def line(found: re.Match[str]) -> str:
        return f"{found[1]}interpreter = {'true' if found[2] in names else 'false'}"

    table = re.compile(
        r'(\[\[cases\]\]\nid = "(\w+)"\nvisibility = "\w+"\n)interpreter = (?:true|false)'
    )
    path.write_text(table.sub(line, path.read_text(encoding="utf-8")), encoding="utf-8")
