"""Reads the bounds from a call of torch.randint.

    randint_bounds((3,), {"high": 10, "size": (4,)})  # (3, 10)

The call must be one that torch accepts. Each bound may be given by its position or by its name, and
without a lowest number it is 0."""

from __future__ import annotations

import operator
from collections.abc import Mapping, Sequence
from typing import Any


def randint_bounds(args: Sequence[Any], kwargs: Mapping[str, Any]) -> tuple[int, int]:
    """Returns the lowest number, and the first number above the highest."""
    # The size is the only sequence. A bound may also be a number of NumPy or a tensor.
    given = [arg for arg in args if not isinstance(arg, Sequence)]
    if "high" in kwargs:
        low, high = given[0] if given else kwargs.get("low", 0), kwargs["high"]
    else:
        low, high = given if len(given) == 2 else (0, given[0])
    return operator.index(low), operator.index(high)
