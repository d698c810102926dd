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
from typing import Any

import torch

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
            run = (
                (lambda: operator.module.reference(**arguments))
                if eager
                else _compiled(operator, arguments)
            )
            return {"ns": statistics.median(times(run))}
    except Exception as error:
        return {"unsupported": f"{type(error).__name__}: {error}".strip()[:REASON_CHARS]}


def _compiled(operator: Operator, arguments: dict[str, Any]) -> Callable[[], None]:
    """Compiles the reference by calling it once, and checks the dtypes and shapes of its outputs.
    If a call changes an argument, the argument is not restored, because the time does not depend on
    its values."""
    import torch._dynamo
    import torch._inductor.config

    torch._inductor.config.compile_threads = 1  # no worker processes, which would outlive the judge
    torch._dynamo.reset()  # otherwise, earlier compilations would make shapes dynamic
    # Without `fullgraph`, torch would run the parts that it cannot compile as ordinary Python. The
    # time would then not be the time of compiled code.
    call = torch.compile(operator.module.reference, dynamic=False, fullgraph=True)
    returned = call(**arguments)
    outputs = list(returned) if isinstance(returned, tuple | list) else [returned]
    expected = operator.reference(arguments)
    if [(x.dtype, x.shape) for x in outputs] != [(x.dtype, x.shape) for x in expected]:
        raise TypeError("the compiled reference returns outputs of other types or shapes")

    def run() -> None:
        call(**arguments)

    return run
