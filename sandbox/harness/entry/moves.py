"""Splits the torch operations that move elements into copies from one view to another.

    for target, source in moves("aten::cat", args, kwargs, out):
        ...  # two views of one shape; the types may differ

recording/dispatch.py records these copies, and host_watch.py checks them without a GPU. All
functions are pure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import torch

Pair = tuple[torch.Tensor, torch.Tensor]


def moves(
    name: str, args: Sequence[Any], kwargs: Mapping[str, Any], out: torch.Tensor
) -> Iterator[Pair]:
    """Yields the copies that an operation of operations.MOVES makes. `out` is the operation's
    result. Fills are not included, because they copy nothing."""
    if name in ("aten::clone", "aten::_to_copy", "aten::_pin_memory"):
        yield out, args[0]
    elif name == "aten::copy_":
        yield args[0], args[1].expand(args[0].shape)
    elif name == "aten::cat":
        yield from _cat(args[0], args[1] if len(args) > 1 else kwargs.get("dim", 0), out)
    elif name == "aten::stack":
        dim = args[1] if len(args) > 1 else kwargs.get("dim", 0)
        for position, piece in enumerate(args[0]):
            yield out.select(dim, position), piece
    elif name == "aten::repeat":
        yield from _repeat(args[0], list(args[1]), out)
    elif name == "aten::constant_pad_nd":
        yield _inside(args[0], list(args[1]), out), args[0]


def _cat(pieces: Sequence[torch.Tensor], dim: int, out: torch.Tensor) -> Iterator[Pair]:
    start = 0
    for piece in pieces:
        if piece.shape != (0,):
            yield out.narrow(dim, start, piece.shape[dim]), piece
            start += piece.shape[dim]


def _repeat(source: torch.Tensor, repeats: list[int], out: torch.Tensor) -> Iterator[Pair]:
    shape = [1] * (len(repeats) - source.dim()) + list(source.shape)
    if all(count > 0 for count in repeats):
        pairs = [extent for pair in zip(repeats, shape, strict=True) for extent in pair]
        once = source.reshape([extent for size in shape for extent in (1, size)])
        yield out.view(pairs), once.expand(pairs)


def _inside(source: torch.Tensor, padding: list[int], out: torch.Tensor) -> torch.Tensor:
    """Returns the part of a padded tensor that contains the source's elements."""
    inner = out
    for step in range(len(padding) // 2):
        dim = source.dim() - 1 - step
        inner = inner.narrow(dim, padding[2 * step], source.shape[dim])
    return inner
