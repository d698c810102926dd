"""Tells of the launches of compiled kernels, or leaves them out.

watch_compiled(around)     # each launch of this process happens inside `with around(arguments)`
launch_nothing_compiled()  # from now on, launches of this process do nothing"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from typing import Any

from triton.compiler import CompiledKernel
from triton.runtime.jit import JITFunction


def watch_compiled(around: Callable[[Any], AbstractContextManager[None]]) -> None:
    """Enters the context `around` of its arguments for each launch, also by an autotuner. A kernel is
    launched as `kernel[grid](...)`, or, after it was compiled, as `compiled[grid](...)`."""
    run, with_grid = JITFunction.run, CompiledKernel.__getitem__

    def watched(kernel: Any, *args: Any, grid: Any, warmup: bool, **kwargs: Any) -> Any:
        with nullcontext() if warmup else around((args, kwargs)):
            return run(kernel, *args, grid=grid, warmup=warmup, **kwargs)

    def watched_with_grid(kernel: Any, grid: Any) -> Any:
        launch = with_grid(kernel, grid)

        def launched(*args: Any, **kwargs: Any) -> Any:
            with around((args, kwargs)):
                return launch(*args, **kwargs)

        return launched

    JITFunction.run = watched  # type: ignore[method-assign]
    CompiledKernel.__getitem__ = watched_with_grid  # type: ignore[method-assign]


def _launch_nothing(*_: Any, **__: Any) -> None:
    """Replaces the launch of each kernel."""


def launch_nothing_compiled() -> None:
    JITFunction.run = _launch_nothing  # type: ignore[method-assign]
    CompiledKernel.__getitem__ = lambda *_: _launch_nothing  # type: ignore[method-assign]
