"""Lets a test part run in a process without a GPU, where the results of all kernels are zeros.

    with BlindTest() as blind:
        execute_the_test_part()
        blind.off = True  # while the kernel part runs, whose launches are recorded

- Launches of the test part's own kernels do nothing. For example, the test of a backward pass may
  have a kernel for the forward pass. (Launches of the kernel part go to proxies, proxies.py.)
- `torch.allclose` is true. A comparison of zeros with a right result says nothing, and the test would
  end before it makes its later calls."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch


class BlindTest:
    off = False

    def __enter__(self) -> BlindTest:
        from triton.runtime.jit import KernelInterface  # a judge of others does not need Triton

        self._kind = KernelInterface
        self._launcher, self._allclose = KernelInterface.__getitem__, torch.allclose

        def launcher(kernel: Any, grid: Any) -> Callable[..., Any]:
            return self._launcher(kernel, grid) if self.off else lambda *_, **__: None

        def allclose(*args: Any, **kwargs: Any) -> bool:
            return self._allclose(*args, **kwargs) if self.off else True

        KernelInterface.__getitem__ = launcher
        torch.allclose = allclose
        return self

    def __exit__(self, *_: object) -> None:
        self._kind.__getitem__ = self._launcher
        torch.allclose = self._allclose
