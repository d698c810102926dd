"""Decides how autotuners of golden kernels choose a configuration, without importing Triton into a
judge that has no golden kernel.

    use_first_configuration()  # after the import of a kernel part
    with fastest_kernels():
        operator.reference(arguments)  # for a measurement"""

from __future__ import annotations

import contextlib
import sys


def use_first_configuration() -> None:
    """Makes autotuners use the first configuration that fits the GPU, because the judge needs the
    outputs of a golden kernel and not its time. Does nothing if nothing has imported Triton."""
    if "triton" not in sys.modules:
        return
    from harness.triton_adapter import autotuner

    autotuner.use_first_configuration()


def fastest_kernels() -> contextlib.AbstractContextManager[None]:
    """While the returned context is active, autotuners choose the fastest configuration, because a
    kernel is timed."""
    if "triton" not in sys.modules:
        return contextlib.nullcontext()
    from harness.triton_adapter import autotuner

    return autotuner.fastest_configuration()
