"""Chooses how exactly each output of a new operator is compared.

    scales = scales_of(folder, cases)  # {"out": 500.0}

An error may be at most 0.01 / scale. The tolerance follows from the reference: it is some times the
reference's own error, and at least a share of the output's typical size."""

from __future__ import annotations

import math
from pathlib import Path

import torch
from harness.operator import Operator, OperatorError
from operator_cases import PRODUCTS, NewCase
from operator_forms import case_of
from operator_request import BAD_DATA, Refused
from operator_texts import TOLERANCE

# The tolerance of an output is at least this many times the reference's own error.
ERRORS = 16
# The same for an output in half precision, whose error is that of one rounding.
HALF_ERRORS = 6
# The least tolerance, as a share of the root mean square of an output.
SHARES = {
    torch.float64: 1e-8,
    torch.float32: 3e-5,
    torch.float16: 4e-3,
    torch.bfloat16: 3e-2,
}


def scales_of(folder: Path, cases: list[NewCase]) -> dict[str, float]:
    """Loads the operator and runs its small cases. So an operator that cannot be loaded or run is
    never written."""
    widest: dict[str, float] = {}
    try:
        operator = Operator.load(folder)
        # The results of the cases in PRODUCTS are exact, and need no tolerance.
        usual = [one for one in cases if one.interpreter and one.distribution not in PRODUCTS]
        for number, new in enumerate(usual):
            case = case_of(new)
            arguments = operator.inputs(case, number)
            right = operator.expected(case, arguments)
            exact = operator.in_float64(arguments) or right
            for output, value, wide in zip(operator.outputs, right, exact, strict=True):
                share = SHARES.get(value.dtype)
                if share is None or value.numel() == 0:
                    continue
                finite = value.isfinite() & wide.isfinite()
                if not bool(finite.any()):
                    continue
                mine, theirs = value[finite].double(), wide[finite].double()
                error = float((mine - theirs).abs().max())
                typical = float(theirs.square().mean().sqrt())
                times = HALF_ERRORS if value.element_size() == 2 else ERRORS
                tolerance = max(times * error, share * typical)
                widest[output.name] = max(widest.get(output.name, 0.0), tolerance)
    except OperatorError as error:
        raise Refused(str(error), BAD_DATA) from error
    except Exception as error:  # the author's code can raise anything
        raise Refused(f"the reference: {type(error).__name__}: {error}", BAD_DATA) from error
    return {name: _rounded(TOLERANCE / value) for name, value in widest.items() if value > 0}


def _rounded(value: float) -> float:
    """Returns the largest of 1, 2 and 5 times a power of ten that is at most `value`."""
    power = 10.0 ** math.floor(math.log10(value))
    return float(f"{max(one for one in (1, 2, 5) if one * power <= value * 1.0001) * power:g}")
