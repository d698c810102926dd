"""Defines the types that a reference.py uses: a case, its cost, and random numbers for inputs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import torch


@dataclass(frozen=True)
class Case:
    """One combination of axes, dtype and input distribution of an operator."""

    id: str
    axes: dict[str, int]
    dtype: torch.dtype
    distribution: str
    device: torch.device


@dataclass(frozen=True)
class Cost:
    """The memory traffic and the operations that every implementation needs at least. A measured
    time is rejected if it is shorter than the time that this minimum takes."""

    bytes: float
    flops: float
    # The number of bytes of arguments and outputs that an implementation need not touch. For
    # example, an operator that updates a cache writes only a few slots of an inout argument, and
    # need not touch the rest.
    untouched: float = 0


class Rng:
    """Draws random tensors on the case's device from one seed. A float64 tensor is drawn in
    float64. Every other floating-point tensor is drawn in float32 and then rounded to its dtype."""

    def __init__(self, seed: int, device: torch.device | str) -> None:
        self.device = torch.device(device)
        self._generator = torch.Generator(self.device)
        self._generator.manual_seed(seed)

    def normal(self, shape: Sequence[int], dtype: torch.dtype = torch.float32) -> torch.Tensor:
        """Returns values of the standard normal distribution."""
        return self._drawn(torch.randn, shape, dtype)

    def uniform(
        self,
        shape: Sequence[int],
        dtype: torch.dtype = torch.float32,
        low: float = 0.0,
        high: float = 1.0,
    ) -> torch.Tensor:
        """Returns uniformly distributed values in [low, high)."""
        drawn = self._drawn(
            torch.rand, shape, torch.float64 if dtype is torch.float64 else torch.float32
        )
        return (drawn * (high - low) + low).to(dtype)

    def integers(
        self, shape: Sequence[int], low: int, high: int, dtype: torch.dtype = torch.int64
    ) -> torch.Tensor:
        """Returns random integers from low up to, but not including, high."""
        drawn = torch.randint(
            low,
            high,
            tuple(shape),
            generator=self._generator,
            device=self.device,
            dtype=torch.int64,
        )
        return drawn.to(dtype)

    def far_keys(
        self, q: torch.Tensor, k: torch.Tensor, boost: torch.Tensor, shift: float = 96.0
    ) -> tuple[torch.Tensor, torch.Tensor]:
        """Returns changed copies of q and k. In the copies, the score q . k / sqrt(dim) of key j is
        higher by shift + boost[j] for about half of the queries, which are chosen at random, and
        lower by the same amount for the others. `boost` has the shape of `k` without its last
        dimension."""
        dim = k.shape[-1]
        direction = 1.0 - 2.0 * self.integers((dim,), 0, 2, torch.float32)
        sign = 1.0 - 2.0 * self.integers((*q.shape[:-1], 1), 0, 2, torch.float32)
        wide = q.to(torch.float32)
        along = (wide @ direction)[..., None] / dim
        lifted = wide + (sign * (16.0 * dim**-0.5) - along) * direction
        return lifted, k.to(torch.float32) + (shift + boost[..., None]) / 16.0 * direction

    def fine(self, shape: Sequence[int], high: float = 8.0) -> torch.Tensor:
        """Returns values of both signs with magnitudes from 4 up to, but not including, `high`.
        float16 represents them, and a rounding to bfloat16 changes them by up to 1/64. Where such a
        value becomes an output, the rounding is larger than a tolerance of 0.01."""
        sign = 1.0 - 2.0 * self.integers(shape, 0, 2, torch.float32)
        return sign * self.integers(shape, 1024, int(256 * high), torch.float32) / 256.0

    def swells(self, m: int, k: int, n: int) -> tuple[torch.Tensor, torch.Tensor]:
        """Returns matrices a (m x k) and b (k x n), with k >= 2. Each element of a @ b is one
        element of a or its negative, with a magnitude from 4 up to 8. The sum of the first half of
        the products is near 9/2 k, and the second half cancels it. float16 represents all elements,
        and float32 represents all sums exactly, whatever their order. An accumulator in float16
        does not represent them."""
        half = k // 2
        a, b = (torch.zeros(shape, device=self.device) for shape in ((m, k), (k, n)))
        a[:, :half] = self.integers((m, half), 16, 32, torch.float32) / 4.0
        b[:half] = self.integers((half, n), 16, 32, torch.float32) / 16.0
        a[:, half : 2 * half], b[half : 2 * half] = -a[:, :half], b[:half]
        place = half + self.integers((n,), 0, half)
        sign = 1.0 - 2.0 * self.integers((n,), 0, 2, torch.float32)
        b[place, torch.arange(n, device=self.device)] += sign
        return a, b

    def picks(self, m: int, k: int, n: int) -> tuple[torch.Tensor, torch.Tensor]:
        """Returns matrices a (m x k) and b (k x n), with k >= 2. Each element of a @ b is one
        element of a (in even rows) or of b (in odd rows). These elements have magnitudes from 4 up
        to 8. float16 represents them, and a rounding to bfloat16 changes them by up to 1/64. So the
        product is exact, and it shows whether a kernel has rounded an input to bfloat16."""
        half = k - k // 2
        row, column = (torch.arange(size, device=self.device) for size in (m, n))

        a, b = (torch.zeros(shape, device=self.device) for shape in ((m, k), (k, n)))
        is_even = (row % 2 == 0)[:, None]
        a[:, :half] = self.fine((m, half)) * is_even
        a[row, self.integers((m,), half, k)] += 1.0 * ~is_even[:, 0]
        b[half:] = self.fine((k - half, n))
        b[self.integers((n,), 0, half), column] = 1.0
        return a, b

    def permutation(self, n: int) -> torch.Tensor:
        """Returns the integers from 0 to n-1 in random order, as int64."""
        return torch.randperm(n, generator=self._generator, device=self.device)

    def _drawn(self, draw: Any, shape: Sequence[int], dtype: torch.dtype) -> torch.Tensor:
        wide = torch.float64 if dtype is torch.float64 else torch.float32
        values: torch.Tensor = draw(
            tuple(shape), generator=self._generator, device=self.device, dtype=wide
        )
        return values.to(dtype)


class ShapeRng(Rng):
    """Draws tensors without values, on the device `meta`. A function that needs only the shapes of
    the drawn tensors takes milliseconds for any size. A function that reads a value fails."""

    def __init__(self) -> None:
        self.device = torch.device("meta")

    def uniform(
        self,
        shape: Sequence[int],
        dtype: torch.dtype = torch.float32,
        low: float = 0.0,
        high: float = 1.0,
    ) -> torch.Tensor:
        return self._drawn(None, shape, dtype)

    def integers(
        self, shape: Sequence[int], low: int, high: int, dtype: torch.dtype = torch.int64
    ) -> torch.Tensor:
        return self._drawn(None, shape, dtype)

    def permutation(self, n: int) -> torch.Tensor:
        return self._drawn(None, (n,), torch.int64)

    def _drawn(self, draw: Any, shape: Sequence[int], dtype: torch.dtype) -> torch.Tensor:
        return torch.empty(tuple(shape), dtype=dtype, device=self.device)
