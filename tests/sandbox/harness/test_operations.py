"""The recorder and the run without a GPU use one list of torch operations, so they allow the same
ones."""

from __future__ import annotations

import pytest
import torch
from harness.entry import operations
from harness.interpreting.host_watch import HostWatch
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


@pytest.mark.parametrize("name", MOVES)
def test_operations_that_move_data_are_allowed(name: str) -> None:
    x = torch.arange(8.0)
    with HostWatch([x]):
        MOVES[name](x)


@pytest.mark.parametrize(
    ("compute", "why"),
    [
        (lambda x: x + 1, "aten::add is arithmetic by torch"),
        (lambda x: x[0].item(), "aten::_local_scalar_dense reads the value"),
        (lambda x: torch.equal(x, x), "aten::equal compares device tensors"),
        (lambda x: x.nonzero(), "aten::nonzero gives a result whose shape or value depends"),
    ],
)
def test_everything_else_is_refused_with_the_recorders_message(compute: object, why: str) -> None:
    x = torch.arange(8.0)
    with HostWatch([x]), pytest.raises(Exception, match=why) as caught:
        compute(x)  # type: ignore[operator]
    assert type(caught.value).__name__ == "NotRecordable"
