"""Reads a case of the suite of cheats. A case is one submission in cases/NN_name.py, where NN is
the number of its class of cheats (classes.py). The header of a case has some of these lines:

    # cheat: keeps its outputs in a cache keyed on the address of the input
    # expect: fail:wrong_result
    # defence: process_separation, judge
    # operator: softmax_last_dim
    # tool: submit
    # device: gpu
    # expect_on_gpu: error:not_recordable
    # expect_of_compile: error:compilation_error
    # calls: 2

- cheat: what the submission does, in one line.
- expect: the expected verdict, as pass | fail[:KIND] | error:KIND[,KIND]. An explanation in
  parentheses may follow.
- defence: the defences that stop the cheat, out of DEFENCES.
- operator: the operator of the submission. Optional, default vector_add.
- tool: the tool that gets the submission. Optional, default run_tests.
- device: the device that gives the expected verdict. Optional, default cpu.
- expect_on_gpu: the expected verdict on a GPU, for a case with device cpu. Optional; a case without
  this line does not run on a GPU.
- expect_of_compile: the expected verdict of the tool `compile`, for a case with device gpu.
  Optional, default pass.
- calls: the number of times that the submission is sent. Optional, default 1. Only the last verdict
  is checked.

The runner sends prelude.py followed by the case. It sends a case in CUDA C++ (NN_name.cu, with `//`
instead of `#`) unchanged. `expect: pass` is for cheats that gain nothing: the submission computes
correct outputs with its own kernels, and the cheat does not improve its Perf. If the submission
finds something that it must not find, its entry function raises an exception. A case in honest/ has
the line `honest:` instead of `cheat:`, and no line `defence:`. Its `expect:` is optional, default
pass. If the recorder cannot record the case as a launch plan, the case has the line `recorder:
refuses (REASON)`."""

from __future__ import annotations

import ast
import re
from dataclasses import dataclass
from pathlib import Path

from case_header import BadCase, Expectation, read_header

HERE = Path(__file__).resolve().parent
DEFENCES = {
    "process_separation": "the candidate has no expected values, no timer, no verdict channel and no GPU",
    "launcher": "the trusted side launches: fresh process, poisoned memory, canaries, gated timing, watchdog",
    "judge": "fresh inputs from the system's entropy, full comparison elsewhere, hidden cases",
    "floor": "faster than physics allows is an error",
    "recheck": "a timed run drawn at random is compared again",
    "attribution": "kernels of the submission make the outputs: launch plans hold little else; ablation",
    "jail": "namespaces, seccomp, fresh folders, limits",
    "task": "scaled tolerances, adversarial distributions, lint mutants",
}
DEVICES = ("cpu", "gpu")
GUARD = "_is_candidate"  # the function of prelude.py that recognises a candidate
TOOLS = ("run_tests", "submit", "compile")


@dataclass(frozen=True)
class Case:
    number: int
    name: str
    path: Path
    text: str  # what the submission tries
    expect: Expectation
    defences: tuple[str, ...]
    operator: str
    tool: str
    device: str
    on_gpu: Expectation | None
    compiles: Expectation
    calls: int
    refused: str  # why the recorder refuses an honest submission

    @property
    def language(self) -> str:
        return "cuda" if self.path.suffix == ".cu" else "python"

    def source(self) -> str:
        if self.language != "python":
            return self.path.read_text(encoding="utf-8")
        return (
            (HERE / "prelude.py").read_text(encoding="utf-8")
            + "\n\n"
            + self.path.read_text(encoding="utf-8")
        )

    def source_for_any_process(self) -> str:
        """Returns the source of an honest case. Leaves out the part of the prelude that ends any
        process that is not a candidate. Lines keep their numbers. Raises BadCase for a cheat."""
        if self.path.parent.name != "honest":
            raise BadCase(f"{self.path.name} may attack the process that executes it")
        lines = self.source().splitlines(keepends=True)
        for node in ast.parse("".join(lines)).body:
            if isinstance(node, (ast.FunctionDef, ast.If)) and GUARD in ast.unparse(node):
                for number in range(node.lineno - 1, node.end_lineno or node.lineno):
                    lines[number] = "\n"
        return "".join(lines)

    def expected_on(self, device: str) -> Expectation | None:
        """Returns the expected verdict on this device, or None if the case does not run on it."""
        if device == self.device:
            return self.expect
        return self.on_gpu if device == "gpu" else None


def read_case(path: Path, honest: bool = False) -> Case:
    match = re.fullmatch(r"(\d\d)_([a-z0-9_]+)\.(?:py|cu)", path.name)
    if match is None:
        raise BadCase(f"{path.name} is not NN_name.py or NN_name.cu")
    common = {"expect", "operator", "tool", "device", "calls", "expect_on_gpu", "expect_of_compile"}
    header = (
        read_header(path, {"honest"}, common | {"recorder"})
        if honest
        else read_header(path, {"cheat", "expect", "defence"}, common)
    )
    defences = tuple(part.strip() for part in header.get("defence", "").split(",") if part.strip())
    for value, valid in [
        (header.get("device", "cpu"), DEVICES),
        (header.get("tool", "run_tests"), TOOLS),
        *((d, DEFENCES) for d in defences),
    ]:
        if value not in valid:
            raise BadCase(f"{path.name}: {value!r} is none of {', '.join(valid)}")
    return Case(
        number=int(match[1]),
        name=path.stem,
        path=path,
        text=header["honest" if honest else "cheat"],
        expect=Expectation.parse(header.get("expect", "pass"), path.name),
        defences=defences,
        operator=header.get("operator", "vector_add"),
        tool=header.get("tool", "run_tests"),
        device=header.get("device", "cpu"),
        on_gpu=Expectation.parse(header["expect_on_gpu"], path.name)
        if "expect_on_gpu" in header
        else None,
        compiles=Expectation.parse(header.get("expect_of_compile", "pass"), path.name),
        calls=int(header.get("calls", "1")),
        refused=header.get("recorder", ""),
    )


def cheats() -> list[Case]:
    return [
        read_case(path)
        for path in sorted((HERE / "cases").glob("*_*.*"))
        if path.suffix in (".py", ".cu")
    ]


def honest_ones() -> list[Case]:
    return [read_case(path, honest=True) for path in sorted((HERE / "honest").glob("*.py"))]
