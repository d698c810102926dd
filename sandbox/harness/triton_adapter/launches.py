"""Tells of the launches of compiled kernels before they happen, or leaves them out.

watch_compiled(before)     # calls before(arguments) before each launch, in this process
launch_nothing_compiled()  # from now on, launches of this process do nothing"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from triton.compiler import CompiledKernel
from triton.runtime.jit import JITFunction


def watch_compiled(before: Callable[[Any], None]) -> None:
    """Calls `before` with the arguments of each launch. A launch by an autotuner is one, too. A
    kernel is launched as `kernel[grid](...)`, or, after it was compiled, as `compiled[grid](...)`."""
    run, with_grid = JITFunction.run, CompiledKernel.__getitem__

    def watched(kernel: Any, *args: Any, grid: Any, warmup: bool, **kwargs: Any) -> Any:
        if not warmup:
            before((args, kwargs))
        return run(kernel, *args, grid=grid, warmup=warmup, **kwargs)

    def watched_with_grid(kernel: Any, grid: Any) -> Any:
        launch = with_grid(kernel, grid)

        def launched(*args: Any, **kwargs: Any) -> Any:
            before((args, kwargs))
            return launch(*args, **kwargs)

        return launched

    JITFunction.run = watched  # type: ignore[method-assign]
    CompiledKernel.__getitem__ = watched_with_grid  # type: ignore[method-assign]


def _launch_nothing(*_: Any, **__: Any) -> None:
    """Replaces the launch of each kernel."""


def launch_nothing_compiled() -> None:
    JITFunction.run = _launch_nothing  # type: ignore[method-assign]
    CompiledKernel.__getitem__ = lambda *_: _launch_nothing  # type: ignore[method-assign]
