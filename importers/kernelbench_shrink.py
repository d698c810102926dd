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

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "sandbox"))

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
    starts = search.starts()
    if search.least_parameters > INTERPRETER_BYTES:
        return None
    for start in starts:
        for row in ROWS:
            found = search.reduced(dict(start), row)
            if found is not None and fits(found[1]):
                return {old: new for old, new in found[0].items() if old != new}
            if time.monotonic() > search.end:
                return None
    return None


class _Search:
    def __init__(self, source: ProblemSource, full: Measured, choice: int) -> None:
        self._source = source
        self._choice = choice
        self._measure = measure if not full.on_meta else measure_on_meta
        self._sizes = source.sizes()
        # The bytes of the parameters with the smallest sizes that Model accepts, if they are much
        # smaller than the file's. If this is too much, the class itself has too many parameters.
        self.least_parameters = 0
        self.end = time.monotonic() + SEARCH_S

    def starts(self) -> list[Sizes]:
        """Returns sizes from which to start: the file's own, and then all of them divided by a
        power of two, because some models accept only sizes that change together."""
        accepted = []
        for shift in SHIFTS:
            sizes = {size: max(2, size >> shift) for size in self._sizes}
            measured = self._measured(sizes)
            if measured is None:
                continue
            accepted.append(sizes)
            if shift >= SMALL_SHIFT:
                state = measured.made.state.values()
                self.least_parameters = sum(x.numel() * x.element_size() for x in state)
        return accepted

    def reduced(self, sizes: Sizes, row: tuple[int, ...]) -> tuple[Sizes, Measured] | None:
        """Replaces each size by a number of the row, if Model runs with it."""
        best = self._measured(sizes)
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
                if found is not None and (best is None or found.bytes <= best.bytes):
                    accepted.append((number, found))
                if len(accepted) > self._choice:
                    break
            if accepted:
                sizes[size], best = accepted[-1]
        return None if best is None else (sizes, best)

    def _measured(self, sizes: Sizes) -> Measured | None:
        try:
            measured = self._measure(self._source.executed(sizes))
        except Exception:  # Model does not accept these sizes
            return None
        empty = any(x.numel() == 0 for x in (*measured.outputs, *measured.given.values()))
        return None if empty else measured
