"""Defines operators as the judge uses them: folders with a spec.toml and a reference.py
(docs/reference/operator-format.md). A candidate never imports this package.

    operator = Operator.load(Path("operators/standard/vector_add"))
    wire = {"id": "small", "axes": {"n": 7}, "dtype": "float32", "distribution": "normal"}
    case = operator.case(wire, "cpu")
    arguments = operator.inputs(case, seed=1)
    expected = operator.reference(arguments)

A reference.py imports `Case`, `Cost` and `Rng` from this package."""

from harness.operator.cases import Case, Cost, Rng
from harness.operator.operator import NOTHING_TO_JUDGE, Arguments, Operator, is_floating, module_of
from harness.operator.spec import (
    Adversary,
    Baseline,
    Loss,
    NeedsGpu,
    NothingToJudge,
    OperatorError,
)

__all__ = [
    "NOTHING_TO_JUDGE",
    "Adversary",
    "Arguments",
    "Baseline",
    "Case",
    "Cost",
    "Loss",
    "NeedsGpu",
    "NothingToJudge",
    "Operator",
    "OperatorError",
    "Rng",
    "is_floating",
    "module_of",
]
