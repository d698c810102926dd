"""Runs the programs of a grid in the reverse order, and hides the stores of a program from the
programs that run after it, as a GPU may do.

    programs = ReversedPrograms(native)  # Triton's native module, which loads and stores
    programs.begin(grid)  # the grid of one launch
    at = programs.next(x, y, z)  # the program that runs in the place of program (x, y, z)
    programs.store(addresses, value, mask)  # the addresses must have been checked
    programs.end()  # ends the launch: now all stores are in memory

A GPU runs the programs of a grid at the same time and in any order. A kernel whose result depends
on that order has a race. The interpreter runs one program after the other, each to its end. So the
interpreter gives the right result in spite of two kinds of races. In the first kind, a program
reads what an earlier program stored. In the second kind, several programs read, increase and store
the same element without an atomic operation.

With this module, a program sees the memory as it was before the launch, and its own stores. At the
end of the launch, the stores of all programs become visible. An atomic operation is different,
because programs use it to agree on an order. Its effect is visible to all programs at once. The
stores that the program made before the atomic operation become visible with it. Use this module
from one thread at a time."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

Program = tuple[int, int, int]


@dataclass
class _Store:
    """A store and the values that it replaced."""

    addresses: Any
    mask: Any
    before: Any
    value: Any


class ReversedPrograms:
    """Runs the programs of each launch in reverse order, one launch at a time (see the module's
    docstring)."""

    def __init__(self, native: Any) -> None:
        self._native = native
        self._grid: Program = (1, 1, 1)
        self._own: list[_Store] = []  # the stores of the running program
        self._hidden: list[_Store] = []  # the stores of programs that have ended

    def begin(self, grid: Program) -> None:
        self._grid = grid
        self._own.clear()
        self._hidden.clear()

    def next(self, x: int, y: int, z: int) -> Program:
        """Ends the running program. Returns the program that must run next, in the place of program
        (x, y, z)."""
        self._hide()
        return self._grid[0] - 1 - x, self._grid[1] - 1 - y, self._grid[2] - 1 - z

    def store(self, addresses: Any, value: Any, mask: Any) -> None:
        before = self._native.load(addresses, mask, value, value.dtype)
        self._own.append(_Store(addresses, mask, before, value.copy()))
        self._native.store(addresses, value, mask)

    def publish(self) -> None:
        """Makes the stores of the running program visible to the programs that run later. Call this
        before an atomic operation of the program."""
        self._own.clear()

    def end(self) -> None:
        self._hide()
        for one in self._hidden:
            self._native.store(one.addresses, one.value, one.mask)
        self._hidden.clear()

    def _hide(self) -> None:
        """Restores the memory to its state before the running program's stores, and keeps the
        stores for end(). Undoes the last store first."""
        for one in reversed(self._own):
            self._native.store(one.addresses, one.before, one.mask)
        self._hidden += self._own
        self._own.clear()
