"""Tests strided views as pieces of bytes: the pieces are the bytes that torch reads and writes, in
the same order."""

from __future__ import annotations

import pytest
import torch
from harness.recording.byte_pieces import MAX_RUNS, matched, runs

VIEWS = [
    torch.arange(24).view(2, 3, 4),
    torch.arange(24).view(4, 6)[:, 1:4],
    torch.arange(24).view(4, 6)[1:3],
    torch.arange(24).view(4, 6).t(),
    torch.arange(24).view(2, 3, 4).transpose(0, 1),
    torch.arange(6).view(6, 1).expand(6, 2),
    torch.tensor(7),
]


def elements(view: torch.Tensor, pieces: list[tuple[int, int]]) -> list[int]:
    """Returns the elements that the pieces cover. They are read from the storage."""
    flat = torch.empty(0, dtype=view.dtype).set_(view.untyped_storage())  # type: ignore[call-overload]
    base, size = int(view.storage_offset()), view.element_size()
    return [
        int(flat[base + (offset + at) // size])
        for offset, length in pieces
        for at in range(0, length, size)
    ]


@pytest.mark.parametrize("view", VIEWS)
def test_pieces_hold_the_elements_in_index_order(view: torch.Tensor) -> None:
    pieces = runs(view.shape, view.stride(), view.element_size())
    expected = view.flatten().tolist()
    if pieces is None:
        assert len(expected) > MAX_RUNS
    else:
        assert len(pieces) <= MAX_RUNS and elements(view, pieces) == expected


def test_adjacent_pieces_are_joined_and_too_many_give_none() -> None:
    assert runs((2, 3, 4), (12, 4, 1), 4) == [(0, 96)]
    assert runs((MAX_RUNS, 1), (2, 1), 2) == [(4 * i, 2) for i in range(MAX_RUNS)]
    assert runs((MAX_RUNS + 1, 1), (2, 1), 2) is None


def test_two_lists_are_walked_together() -> None:
    assert list(matched([(0, 24)], [(0, 12), (32, 12)])) == [(0, 0, 12), (12, 32, 12)]
    assert list(matched([(0, 4), (8, 8)], [(100, 8), (200, 4)])) == [
        (0, 100, 4),
        (8, 104, 4),
        (12, 200, 4),
    ]
