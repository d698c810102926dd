"""Times an operator's reference that torch.compile has compiled. The command `assay operators
compiled` starts a separate judge for this, because compiling takes seconds to minutes. That judge
serves no jobs.

    outcome = time_compiled(operator, case, judge_times)  # {"ns": 51200.0} or {"unsupported": "..."}

The compiled code is stored in a temporary folder. `unsupported` says why there is no time, because
torch.compile refuses some references, and some compiled references fail."""

from __future__ import annotations

import os
import statistics
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import torch
from torch.utils._pytree import tree_leaves

from harness.operator import Case, Operator

SEED = 20_261_122  # compiled code does not depend on the seed, and its time hardly does
REASON_CHARS = 300
# A function that measures a call on the device and returns samples in nanoseconds.
Times = Callable[[Callable[[], None]], list[float]]


def time_compiled(
    operator: Operator, case: Case, times: Times, eager: bool = False
) -> dict[str, Any]:
    """Returns `ns`, the median time of the reference, or `unsupported`, the reason why there is no
    time. The reference is not compiled if `eager`."""
    try:
        arguments = operator.inputs(case, SEED)
        with tempfile.TemporaryDirectory(prefix="assay-inductor-") as folder, torch.no_grad():
            os.environ["TORCHINDUCTOR_CACHE_DIR"] = folder
            call, returned = _call_of(operator, arguments)
            run: Callable[[], Any] = partial(call.function, *call.given, **call.named)
            if not eager:
                run = _compiled(call, operator.reference(arguments)[:returned])
            return {"ns": statistics.median(times(run))}
    except Exception as error:
        return {"unsupported": f"{type(error).__name__}: {error}".strip()[:REASON_CHARS]}


@dataclass
class _Call:
    """A call that computes the outputs of a reference."""

    function: Callable[..., Any]
    given: list[Any]
    named: dict[str, Any]


def _call_of(operator: Operator, arguments: dict[str, Any]) -> tuple[_Call, int]:
    """Returns the call that is timed, and how many of the operator's outputs it returns. The
    function `timed` of an imported operator returns only what is not an inout argument."""
    if hasattr(operator.module, "timed"):
        call = _Call(*operator.timed_call(arguments), {})
        return call, sum(not output.source for output in operator.outputs)
    return _Call(operator.module.reference, [], arguments), len(operator.outputs)


def _compiled(call: _Call, expected: list[torch.Tensor]) -> Callable[[], None]:
    """Compiles the function by calling it once, and checks the dtypes and shapes of its outputs.
    If a call changes an argument, the argument is not restored, because the time does not depend on
    its values."""
    import torch._dynamo
    import torch._inductor.config

    torch._inductor.config.compile_threads = 1  # no worker processes, which would outlive the judge
    torch._dynamo.reset()  # otherwise, earlier compilations would make shapes dynamic
    # Without `fullgraph`, torch would run the parts that it cannot compile as ordinary Python. The
    # time would then not be the time of compiled code.
    compiled = torch.compile(call.function, dynamic=False, fullgraph=True)
    outputs = tree_leaves(compiled(*call.given, **call.named))
    if [(x.dtype, x.shape) for x in outputs] != [(x.dtype, x.shape) for x in expected]:
        raise TypeError("the compiled reference returns outputs of other types or shapes")

    def run() -> None:
        compiled(*call.given, **call.named)

    return run
