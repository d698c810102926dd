"""Tests which copies by torch are recognised as changing the order of elements.
tests/sandbox/launcher/plan/layout_test.cc tests the same rules for launch plans."""

from __future__ import annotations

import pytest
from harness.entry.order import keeps_order
from harness.interpreting.layout_log import LayoutLog, View

ROWS, COLS = 4, 6


def view(buffer: str, shape: tuple[int, ...], strides: tuple[int, ...], at: int = 0) -> View[str]:
    return View(buffer, 4 * at, shape, tuple(4 * step for step in strides), 4)


def whole(buffer: str) -> View[str]:
    return view(buffer, (ROWS, COLS), (COLS, 1))


def row(buffer: str, index: int) -> View[str]:
    return view(buffer, (COLS,), (1,), COLS * index)


def column(buffer: str, index: int) -> View[str]:
    return view(buffer, (ROWS,), (COLS,), index)


@pytest.mark.parametrize(
    ("strides", "kept"),
    [
        (((4, 1), (8, 1)), True),  # rows with gaps
        (((4, 1), (1, 3)), False),  # a transposition
        (((1, 3), (1, 3)), True),  # both sides transposed
        (((4, 1), (0, 1)), False),  # one row repeated three times
        (((4, 1), (3, 1)), False),  # rows that overlap
    ],
)
def test_orders_are_compared(strides: tuple[tuple[int, ...], ...], kept: bool) -> None:
    assert keeps_order((3, 4), *strides) == kept


def test_sizes_of_one_have_no_order() -> None:
    assert keeps_order((1, 5, 1), (0, 2, 0), (7, 3, 9)) and keeps_order((), ())


def test_padding_and_cutting_keep_the_order() -> None:
    log: LayoutLog[str] = LayoutLog()
    log.move(view("padded", (ROWS, COLS), (8, 1)), whole("x"))
    log.launch(["padded", "t"])
    log.move(whole("y"), view("t", (ROWS, COLS), (8, 1)))
    assert not log.reordered([whole("y")])


@pytest.mark.parametrize("kernel_first", [True, False])
def test_a_transposing_copy_counts_on_both_sides_of_a_kernel(kernel_first: bool) -> None:
    log: LayoutLog[str] = LayoutLog()
    turned = view("x" if not kernel_first else "t", (COLS, ROWS), (1, COLS))
    target = view("y" if kernel_first else "t", (COLS, ROWS), (ROWS, 1))
    if kernel_first:
        log.launch(["x", "t"])
    log.move(target, turned)
    if not kernel_first:
        log.launch(["t", "y"])
    assert log.reordered([view("y", (COLS, ROWS), (ROWS, 1))])
    assert not log.reordered([whole("other")])
    log.begin()
    assert not log.reordered([whole("y")])


def test_copies_that_keep_the_order_may_change_it_together() -> None:
    def reordered(*pairs: tuple[View[str], View[str]], launch: tuple[str, ...] = ()) -> bool:
        log: LayoutLog[str] = LayoutLog()
        for target, source in pairs:
            log.move(target, source)
        if launch:
            log.launch(launch)
        return log.reordered([whole("y")])

    assert not reordered((row("y", 0), row("t", 0)), (row("y", 1), row("t", 2)))
    assert not reordered((row("y", 0), row("t", 0)), (row("y", 0), row("t", 0)))
    assert reordered((row("y", 0), row("t", 1)), (row("y", 1), row("t", 0)))
    assert reordered((row("y", 0), row("t", 0)), (row("y", 1), row("t", 0)))
    assert reordered((row("y", 0), row("t", 0)), (row("y", 1), row("u", 1)))
    assert reordered((column("y", 0), row("t", 0)), (column("y", 1), row("t", 1)))
    buffers = ("a", "b", "y")
    assert reordered((row("a", 0), column("x", 0)), (row("b", 0), column("x", 1)), launch=buffers)
    assert not reordered((row("a", 0), row("x", 0)), (row("b", 0), row("x", 1)), launch=buffers)


def test_the_strides_of_an_output_count() -> None:
    log: LayoutLog[str] = LayoutLog()
    assert log.reordered([view("y", (COLS, ROWS), (1, COLS))])
    assert log.reordered([view("y", (3, 4), (0, 1))])
    assert not log.reordered([view("y", (3, 4), (9, 2))])
