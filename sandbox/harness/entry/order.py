"""Tells whether memory layouts of one shape put the elements into the same order. The arguments are
the shape, and the strides of each layout.

    keeps_order((3, 4), (4, 1), (8, 1))  # True: rows with gaps
    keeps_order((3, 4), (4, 1), (1, 3))  # False: a transposition

All functions are pure."""

from __future__ import annotations

from collections.abc import Sequence


def keeps_order(shape: Sequence[int], *strides: Sequence[int]) -> bool:
    """Returns True if all layouts put the elements into the same order in memory. Returns False if
    two elements of a layout share an address."""
    dims = [dim for dim, extent in enumerate(shape) if extent > 1]
    dims.sort(key=lambda dim: strides[0][dim])
    for steps in strides:
        reach = 0
        for dim in dims:
            if steps[dim] <= reach:
                return False
            reach += (shape[dim] - 1) * steps[dim]
    return True
