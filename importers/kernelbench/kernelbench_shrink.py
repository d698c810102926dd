"""Finds small cases of a problem of KernelBench: other sizes with which Model still runs, and with
which Triton's interpreter takes a second.

    small = shrunk(source, full, choice=0)  # {4096: 33, 16384: 7}, or None
    other = shrunk(source, full, choice=1)  # other sizes

A size is an integer of the file (ProblemSource.sizes). The search replaces one size after the other
by the first of some small numbers with which Model runs. Whether it runs is found on the device
`meta`, so nothing is computed."""

from __future__ import annotations

import sys
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "importers/common"), str(ROOT / "sandbox")]

from harness.imported.problem_source import ProblemSource  # noqa: E402
from kernelbench_meter import Measured, measure, measure_on_meta  # noqa: E402

# The limits of a case for the interpreter (docs/reference/operator-format.md).
INTERPRETER_BYTES = 1 << 20
INTERPRETER_FLOPS = 32 << 20
SEARCH_S = 60.0  # for one case of one file
# Numbers to try, in order. Each row is for a stricter attempt. Odd numbers come first, because they
# reveal masks that are missing; the others fit groups and heads.
ROWS = (
    (37, 33, 41, 32, 24, 48, 16, 40, 20, 64, 12, 10),
    (17, 19, 13, 16, 18, 12, 20, 24, 32, 10, 9, 14, 8),
    (9, 7, 11, 8, 10, 12, 6, 16, 5, 4, 14, 3),
    (5, 3, 7, 4, 6, 8, 10, 2, 12, 16, 1),
)
SMALL_SHIFT = 3
SHIFTS = (0, 1, 2, 3, 4, 5, 6, 7, 8)
Sizes = dict[int, int]


def fits(measured: Measured) -> bool:
    return measured.bytes <= INTERPRETER_BYTES and measured.flops <= INTERPRETER_FLOPS


def shrunk(source: ProblemSource, full: Measured, choice: int) -> Sizes | None:
    """Returns the sizes that change in a small case, or None if none was found. `choice` selects
    one of several small cases."""
    if fits(full) and choice == 0:
        return {}
    search = _Search(source, full, choice)
    if search.least_parameters() > INTERPRETER_BYTES:
        return None
    for shift in SHIFTS:
        for row in ROWS:
            found = search.reduced(shift, row)
            if found is not None and fits(found[1]):
                return {old: new for old, new in found[0].items() if old != new}
            if time.monotonic() > search.end:
                return None
    return None


class _Search:
    def __init__(self, source: ProblemSource, full: Measured, choice: int) -> None:
        self._source = source
        self._choice = choice
        self._full = full
        self._starts: dict[int, tuple[Sizes, Measured | None]] = {}
        self._measure = measure if not full.on_meta else measure_on_meta
        self._sizes = source.sizes()
        self.end = time.monotonic() + SEARCH_S

    def least_parameters(self) -> int:
        """Returns the bytes of the parameters with the smallest sizes of starts that Model accepts,
        or 0 if it accepts no much smaller ones. If this is too much, the class itself has too many
        parameters."""
        for shift in reversed(SHIFTS):
            measured = self._start(shift)[1] if shift >= SMALL_SHIFT else None
            if measured is not None:
                state = measured.made.state.values()
                return sum(x.numel() * x.element_size() for x in state)
        return 0

    def _start(self, shift: int) -> tuple[Sizes, Measured | None]:
        """Returns sizes from which to start: the file's own, all of them divided by a power of two,
        because some models accept only sizes that change together."""
        if shift not in self._starts:
            sizes = {size: max(2, size >> shift) if shift else size for size in self._sizes}
            # A recurrent model takes seconds with the file's own sizes, which are measured already.
            self._starts[shift] = sizes, self._full if shift == 0 else self._measured(sizes)
        return self._starts[shift]

    def reduced(self, shift: int, row: tuple[int, ...]) -> tuple[Sizes, Measured] | None:
        """Replaces each size of a start by a number of the row, if Model runs with it. Returns None
        if Model does not run with the start."""
        start, best = self._start(shift)
        if best is None:
            return None
        sizes = dict(start)
        for size in sorted(sizes, key=lambda key: -sizes[key]):
            if time.monotonic() > self.end:
                break
            taken = {value for key, value in sizes.items() if key != size}
            # A number that another size has would hide an exchange of the two.
            order = [n for n in row if n not in taken] + [n for n in row if n in taken]
            accepted = []
            for number in order:
                if number >= sizes[size]:
                    continue
                found = self._measured({**sizes, size: number})
                if found is not None and found.bytes <= best.bytes:
                    accepted.append((number, found))
                if len(accepted) > self._choice:
                    break
            if accepted:
                sizes[size], best = accepted[-1]
        return sizes, best

    def _measured(self, sizes: Sizes) -> Measured | None:
        try:
            measured = self._measure(self._source.executed(sizes))
        except Exception:  # Model does not accept these sizes
            return None
        empty = any(x.numel() == 0 for x in (*measured.outputs, *measured.given.values()))
        return None if empty else measured
