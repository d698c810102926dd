"""A case of the suite of cheats: one submission in cases/NN_name.py, where NN is its class;
classes.py names all 76.

    # cheat: a cache keyed on the address of the input                what it does, one line
    # expect: fail:wrong_result                                        pass | fail[:KIND] | error:KIND[,KIND]
    # defence: structure, judge                                        what stands against it, of DEFENCES
    # operator: softmax_last_dim                                       optional; vector_add
    # tool: submit                                                     optional; run_tests
    # device: gpu                                                      optional; cpu. Where the verdict is sought
    # on_gpu: error:not_recordable                                     optional, of a cpu case: the verdict it gets on a GPU as well
    # compile: error:compilation_error                                 optional, of a gpu case: what `compile` says of it; pass
    # calls: 2                                                         optional; 1. So often is it sent; the last verdict counts

What is sent is prelude.py and then the case; a case in CUDA C++, NN_name.cu with `//` for `#`, is
sent as it is. `expect: pass` is for attempts that gain nothing: the submission then computes the
right answer by its own kernels, and its Perf is no better than theirs. One that finds what it must
not find makes the entry function raise. Cases of honest/ have `honest:` instead of `cheat:` and no
defence; `recorder: refuses (why)` where no launch plan can be made of one yet."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

from case_header import BadCase, Expectation, read_header

HERE = Path(__file__).resolve().parent
DEFENCES = {
    "structure": "the candidate has no expected values, no timer, no verdict channel and no GPU",
    "launcher": "the trusted side launches: fresh process, poisoned memory, canaries, gated timing, watchdog",
    "judge": "fresh inputs from the system's entropy, full comparison elsewhere, hidden cases",
    "floor": "faster than physics allows is an error",
    "recheck": "a timed run drawn at random is compared again",
    "attribution": "kernels of the submission make the outputs: launch plans hold little else; ablation",
    "jail": "namespaces, seccomp, fresh folders, limits",
    "task": "scaled tolerances, adversarial distributions, lint mutants",
}
DEVICES = ("cpu", "gpu")
TOOLS = ("run_tests", "submit", "compile")


@dataclass(frozen=True)
class Case:
    number: int
    name: str
    path: Path
    text: str  # what it tries
    expect: Expectation
    defences: tuple[str, ...]
    operator: str
    tool: str
    device: str
    on_gpu: Expectation | None
    compiles: Expectation
    calls: int
    refused: str  # why the recorder refuses an honest one

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

    def expected_on(self, device: str) -> Expectation | None:
        """The verdict due on this device; None when it is not for it."""
        if device == self.device:
            return self.expect
        return self.on_gpu if device == "gpu" else None


def read_case(path: Path, honest: bool = False) -> Case:
    match = re.fullmatch(r"(\d\d)_([a-z0-9_]+)\.(?:py|cu)", path.name)
    if match is None:
        raise BadCase(f"{path.name} is not NN_name.py or NN_name.cu")
    common = {"expect", "operator", "tool", "device", "on_gpu", "compile", "calls"}
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
        on_gpu=Expectation.parse(header["on_gpu"], path.name) if "on_gpu" in header else None,
        compiles=Expectation.parse(header.get("compile", "pass"), path.name),
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
