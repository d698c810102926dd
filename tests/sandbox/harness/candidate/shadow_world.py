"""Shadows, and a function that acts as a launch of a kernel."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from harness.candidate.shadows import Shadows
from torch.utils._python_dispatch import _disable_current_modes


class World:
    """A process with shadows, in which a function of the test acts as the kernels."""

    def __init__(self) -> None:
        self.shadows = Shadows()

    def kernel(
        self,
        tensor: torch.Tensor,
        value: Any = 7.0,
        given: Any = None,
        find: Callable[[Any], torch.Tensor] = lambda given: given[0],
        meanwhile: Callable[[], Any] = lambda: None,
    ) -> torch.Tensor:
        """Fills the tensor. `given` replaces the arguments of the launch, and `find` finds the tensor
        in them. `meanwhile` acts as something else that happens while the kernel runs."""
        launch = self.shadows.launch((tensor,) if given is None else given)
        with launch as arguments, _disable_current_modes():
            meanwhile()
            find(arguments).copy_(torch.as_tensor(value))
            meanwhile()
        return tensor

    def depends(self, tensor: torch.Tensor) -> bool:
        return not torch.equal(tensor, self.shadows.view(tensor))
