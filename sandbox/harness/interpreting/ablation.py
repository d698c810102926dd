"""Ablate mode of a candidate: runs the entry once more with kernel launches that do nothing, and
watches what torch does instead.

It runs in a process of its own, forked like any candidate, so a submission cannot tell the two runs
apart by counting calls. The judge compares its outputs with those of the first run
(attribution.py). Like triton_adapter, it depends on Triton 3.6's interpreter."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

import torch
from triton.runtime.interpreter import GridExecutor

from harness.entry.cases import CaseInput, collect_outputs
from harness.interpreting.host_watch import HostWatch, tensors_in
from harness.interpreting.interpret import InterpretRunner


class AblateRunner(InterpretRunner):
    """Runs the entry without its kernels (see the module's docstring)."""

    def __init__(self, cache_dir: str) -> None:
        super().__init__(cache_dir)
        self._watch: HostWatch | None = None
        GridExecutor.__call__ = self._launch_nothing()

    def call(
        self, case: CaseInput, entry: Callable[..., Any], arguments: dict[str, Any]
    ) -> list[torch.Tensor]:
        tensors = {
            name: value for name, value in arguments.items() if isinstance(value, torch.Tensor)
        }
        known = [tensors[name] for name in case.structural if name in tensors]
        device = [value for name, value in tensors.items() if name not in case.structural]
        with self.context(), HostWatch(device, known) as self._watch:
            return collect_outputs(case, entry(*arguments.values()), arguments)

    def _launch_nothing(self) -> Callable[..., None]:
        def launch(executor: Any, *args: Any, **kwargs: Any) -> None:
            known = {name: value for name, value in kwargs.items() if name in executor.arg_names}
            for hook in executor.pre_run_hooks:
                hook(*args, **known)
            if callable(executor.grid):
                executor.grid(inspect.getcallargs(executor.fn, *args, **known))
            for tensor in tensors_in((args, known)):
                if self._watch is not None:
                    self._watch.touched(tensor)

        return launch
