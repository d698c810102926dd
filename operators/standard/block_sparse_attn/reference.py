"""Computes attention over the blocks that a CSR mask selects."""

from __future__ import annotations

import torch
from harness.operator import Case, Cost, Rng
from torch import Tensor

BLOCK = 64


def inputs(case: Case, rng: Rng) -> dict[str, Tensor | int | float | bool]:
    """q is scaled up so that each query attends to few keys. Otherwise the outputs would be
    averages near 0."""
    shape = (case.axes["batch"], case.axes["heads"], case.axes["seq"], case.axes["head_dim"])
    q = 3.0 * rng.normal(shape, torch.float32)
    k = rng.normal(shape, torch.float32)
    v = rng.normal(shape, torch.float32)
    if case.distribution == "far_keys":
        # A few keys at random positions outweigh all others.
        strong = rng.uniform(shape[:3], torch.float32, 0.0, 1.0) < 0.01
        q, k = rng.far_keys(q, k, 24.0 * strong)
    elif case.distribution == "fine":
        # Each query attends to nearly one key, so a rounding of v to bfloat16 shows.
        q, v = 4.0 * q, rng.fine(shape)
    offsets, columns = _mask(case, rng)
    half = torch.float16
    return {
        "q": q.to(half),
        "k": k.to(half),
        "v": v.to(half),
        "row_offsets": offsets,
        "columns": columns,
    }


def _mask(case: Case, rng: Rng) -> tuple[Tensor, Tensor]:
    """Returns a CSR mask that selects `blocks` positions: those with the lowest ranks."""
    rows, blocks = case.axes["row_count"] - 1, case.axes["blocks"]
    rank = rng.uniform((rows, rows), torch.float64)
    if case.distribution in ("local", "far_keys"):
        place = torch.arange(rows, device=rng.device)
        rank += (place[:, None] - place[None, :]).abs() * (2.0 / rows)
    elif case.distribution == "empty_rows":
        rank[1::3] += 2.0
    elif case.distribution == "one_long_row":
        rank[rows // 2] -= 2.0
    chosen = rank.reshape(-1).argsort(stable=True)[:blocks].sort().values
    offsets = torch.zeros((rows + 1,), dtype=torch.int32, device=rng.device)
    offsets[1:] = torch.bincount(chosen // rows, minlength=rows).cumsum(0)
    return offsets, (chosen % rows).to(torch.int32)


def reference(q: Tensor, k: Tensor, v: Tensor, row_offsets: Tensor, columns: Tensor) -> Tensor:
    return _attend(q, k, v, _rows(row_offsets, columns), q.shape[-1] ** -0.5, False)


def _rows(row_offsets: Tensor, columns: Tensor) -> list[list[int]]:
    offsets, blocks = row_offsets.tolist(), columns.tolist()
    return [blocks[offsets[i] : offsets[i + 1]] for i in range(len(offsets) - 1)]


def _attend(
    q: Tensor, k: Tensor, v: Tensor, rows: list[list[int]], scale: float, padded: bool
) -> Tensor:
    """Computes one block of queries of all heads at a time, over the keys of the blocks in its row.
    If `padded` is set, a short block is filled with zeros (a mutant's mistake)."""
    wide = torch.float64 if q.dtype == torch.float64 else torch.float32
    seq = q.shape[2]
    out = torch.zeros(q.shape, dtype=wide, device=q.device)
    for row, blocks in enumerate(rows):
        if not blocks:
            continue
        keys = torch.tensor(
            [j for block in blocks for j in range(block * BLOCK, min(seq, (block + 1) * BLOCK))],
            device=q.device,
        )
        queries = slice(row * BLOCK, (row + 1) * BLOCK)
        scores = (q[:, :, queries].to(wide) @ k[:, :, keys].to(wide).transpose(-1, -2)) * scale
        zeros = len(blocks) * BLOCK - keys.numel() if padded else 0
        p = torch.softmax(torch.nn.functional.pad(scores, (0, zeros)), dim=-1)[..., : keys.numel()]
        out[:, :, queries] = p @ v[:, :, keys].to(wide)
    return out


def mutants(
    q: Tensor, k: Tensor, v: Tensor, row_offsets: Tensor, columns: Tensor
) -> dict[str, Tensor | tuple[Tensor, ...]]:
    rows, scale = _rows(row_offsets, columns), q.shape[-1] ** -0.5
    places = range(len(rows))
    return {
        "mask ignored": _attend(q, k, v, [list(places) for _ in places], scale, False),
        "mask transposed": _attend(
            q, k, v, [[i for i in places if j in rows[i]] for j in places], scale, False
        ),
        "last block of each row left out": _attend(
            q, k, v, [blocks[:-1] for blocks in rows], scale, False
        ),
        "empty rows see the next block of the list": _attend(
            q, k, v, [blocks or [0] for blocks in rows], scale, False
        ),
        "short block filled with zeros": _attend(q, k, v, rows, scale, True),
        "blocks after the query left out": _attend(
            q, k, v, [[j for j in blocks if j <= i] for i, blocks in enumerate(rows)], scale, False
        ),
        "scale left out": _attend(q, k, v, rows, 1.0, False),
    }


def shortcuts(
    q: Tensor, k: Tensor, v: Tensor, row_offsets: Tensor, columns: Tensor
) -> dict[str, Tensor | tuple[Tensor, ...]]:
    """Leaves out the first half of each row's blocks."""
    rows = [blocks[len(blocks) // 2 :] for blocks in _rows(row_offsets, columns)]
    return {"skip_negligible": _attend(q, k, v, rows, q.shape[-1] ** -0.5, False)}


def cost(case: Case) -> Cost:
    heads, seq, dim = (
        case.axes["batch"] * case.axes["heads"],
        case.axes["seq"],
        case.axes["head_dim"],
    )
    traffic = heads * seq * dim * (3 * 2 + 4) + 4 * (case.axes["row_count"] + case.axes["blocks"])
    return Cost(bytes=traffic, flops=4 * heads * case.axes["blocks"] * BLOCK * BLOCK * dim)
