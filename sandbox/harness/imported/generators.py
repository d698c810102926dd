"""Seeds the random number generators that code of a benchmark uses: those of torch, Python and NumPy.

with seeded_generators(7):
    x = torch.randn(3)  # the same numbers in every process"""

from __future__ import annotations

import contextlib
import random
from collections.abc import Iterator

import numpy
import torch

SEED_LIMIT = 1 << 31


@contextlib.contextmanager
def seeded_generators(seed: int) -> Iterator[None]:
    """Seeds the generators. Restores their state at the end."""
    state, numpy_state = random.getstate(), numpy.random.get_state()
    with torch.random.fork_rng():
        torch.manual_seed(seed)
        random.seed(seed)
        numpy.random.seed(seed)
        try:
            yield
        finally:
            random.setstate(state)
            numpy.random.set_state(numpy_state)
