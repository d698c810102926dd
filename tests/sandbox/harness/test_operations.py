"""Tests that the recorder and the run without a GPU allow the same torch operations, because they
use one list."""

from __future__ import annotations

import pytest
import torch
from harness.entry import operations
from harness.entry.refusals import Refusals
from harness.interpreting.host_watch import HostWatch
from harness.interpreting.layout_log import LayoutLog
from harness.interpreting.live_memory import FULL, WITHOUT, LiveMemory
from harness.recording.dispatch import Classifier
from harness.recording.recorder import Recorder


def test_the_recorder_has_work_for_every_move() -> None:
    assert Classifier(Recorder("cuda:90"))._work.keys() == operations.MOVES


@pytest.mark.parametrize(
    "list_name",
    ["METADATA", "ALIASES", "LIFTS", "ALLOCATIONS", "UNIFORM", "MOVES", "DRAWN_LIKE", "DRAWN_INTO"],
)
def test_every_name_is_an_operation_of_this_torch(list_name: str) -> None:
    for full in getattr(operations, list_name):
        space, name = full.split("::")
        assert hasattr(getattr(torch.ops, space), name), full


MOVES = {
    "copy": lambda x: torch.empty_like(x).copy_(x),
    "clone": lambda x: x.clone(),
    "convert": lambda x: x.half(),
    "zero": lambda x: x.clone().zero_(),
    "cat": lambda x: torch.cat([x, x]),
    "stack": lambda x: torch.stack([x, x]),
    "repeat": lambda x: x.repeat(2),
    "pad": lambda x: torch.nn.functional.pad(x, (1, 1)),
    "view": lambda x: x.view(2, 4).t(),
    "allocate": lambda x: x.new_full((3,), 2.0),
}


def watched(*values: torch.Tensor) -> tuple[HostWatch, LiveMemory, list[torch.Tensor]]:
    """Returns three things: a HostWatch that has watched arguments with these values, the live
    memory of this HostWatch, and the arguments."""
    live = LiveMemory()
    watch = HostWatch(live, Refusals(), LayoutLog())
    arguments = [value.clone() for value in values]
    for argument in arguments:
        watch.argument(argument)
    return watch, live, arguments


@pytest.mark.parametrize("name", MOVES)
def test_operations_that_move_data_are_allowed(name: str) -> None:
    """Host code moves values that it cannot read: it sees zeros, but kernels see the values."""
    values = torch.arange(1.0, 9.0)
    expected = MOVES[name](values)
    watch, live, (x,) = watched(values)
    with watch:
        moved = MOVES[name](x)
        assert watch.holds(moved) == (name not in ("zero", "allocate"))
    for copy in (FULL, WITHOUT):
        assert torch.equal(live.view(moved, copy), expected)
    if watch.holds(moved):
        assert not moved.any()


def test_a_part_may_be_filled_and_copied_in_both_copies() -> None:
    watch, live, (x, y) = watched(torch.arange(8.0), torch.arange(8.0) + 100)
    with watch:
        z = torch.empty_like(x)
        z[2:4] = x[5:7]
        z[4:].fill_(3)
        z[:2].copy_(y[:2])
    for copy in (FULL, WITHOUT):
        assert live.view(z, copy).tolist() == [100, 101, 5, 6, 3, 3, 3, 3]
        assert live.view(x, copy).tolist() == list(range(8))


@pytest.mark.parametrize(
    ("compute", "why"),
    [
        (lambda x: x + 1, "aten::add is arithmetic by torch"),
        (lambda x: x[0].item(), "aten::_local_scalar_dense reads the value"),
        (lambda x: torch.equal(x, x), "aten::equal compares device tensors"),
        (lambda x: x.nonzero(), "aten::nonzero gives a result whose shape or value depends"),
        (lambda x: torch.cat([x, x], out=torch.zeros(16)), "aten::cat is arithmetic by torch"),
        (lambda x: x.apply_(lambda one: one + 1), "apply_.* reads the values"),
        (lambda x: torch.utils.dlpack.to_dlpack(x), "_to_dlpack reads the values"),
    ],
)
def test_everything_else_is_refused_with_the_recorders_message(compute: object, why: str) -> None:
    watch, live, (x,) = watched(torch.arange(8.0))
    with watch, live.watching(), pytest.raises(Exception, match=why) as caught:
        compute(x)  # type: ignore[operator]
    assert type(caught.value).__name__ == "NotRecordable"
