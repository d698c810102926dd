"""The inputs of a case whose origins are followed, and a function that acts as a kernel."""

from __future__ import annotations

import threading

import torch
from harness.candidate.origins import Origins
from harness.candidate.shadows import Shadows
from torch.utils._python_dispatch import _disable_current_modes

N = 64


class Given:
    """The inputs of a case, and a function that acts as a kernel."""

    def __init__(self) -> None:
        self.shadows = Shadows()
        self.origins = Origins(self.shadows)
        self.x, self.y = torch.arange(1.0, 1 + N), torch.ones(N)
        self.lengths = torch.arange(N)
        self.origins.give([self.x, self.y], [self.lengths])

    def kernel(self, out: torch.Tensor, *sources: torch.Tensor) -> torch.Tensor:
        """Adds the sources."""
        with self.origins.launch((out, *sources)) as (target, *rest), _disable_current_modes():
            target.copy_(sum(rest) if rest else torch.arange(N).flip(0))  # type: ignore[arg-type]
        return out

    def of_torch(self, tensor: torch.Tensor) -> bool:
        return self.origins.is_of_torch(tensor)


def unseen(given: Given) -> torch.Tensor:
    with _disable_current_modes():
        return given.x + given.y


def into(given: Given, memory: torch.Tensor) -> torch.Tensor:
    thread = threading.Thread(target=lambda: torch.add(given.x, given.y, out=memory))
    thread.start()
    thread.join()
    return memory
