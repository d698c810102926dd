"""Computes decoding attention over a paged cache."""

from __future__ import annotations

import torch
from harness.operator import Case, Cost, Rng
from torch import Tensor


def inputs(case: Case, rng: Rng) -> dict[str, Tensor | int | float | bool]:
    """q is scaled up so that each query attends to few keys. Otherwise the outputs would be
    averages near 0."""
    batch, pages, size, most = (
        case.axes[name] for name in ("batch", "pages", "page_size", "max_pages")
    )
    kv_heads, dim = case.axes["kv_heads"], case.axes["head_dim"]
    q = 3.0 * rng.normal((batch, kv_heads * case.axes["group"], dim), torch.float32)
    k = rng.normal((pages, size, kv_heads, dim), torch.float16)
    v = rng.normal((pages, size, kv_heads, dim), torch.float16)
    lengths = rng.integers((batch,), max(1, most * size // 3), most * size + 1, torch.int32)
    if case.distribution in ("full", "far_keys"):
        lengths = torch.full_like(lengths, most * size)
    if case.distribution == "far_keys":
        # A few keys at random positions outweigh all others.
        strong = rng.uniform(k.shape[:3], torch.float32, 0.0, 1.0) < 4.0 / (most * size)
        q, k = rng.far_keys(q, k, 24.0 * strong)
    elif case.distribution == "fine":
        # Each query attends to nearly one key, so a rounding of v to bfloat16 shows.
        q, v = 4.0 * q, rng.fine(v.shape).to(torch.float16)
    elif case.distribution == "spikes":
        k *= 1.0 + 2.0 * (
            rng.uniform((pages, size, kv_heads, 1), torch.float32, 0.0, 1.0) < 0.03
        ).to(torch.float16)
        lengths[0] = 1
    if case.distribution == "shared":
        # The table has more entries than there are pages, so sequences share pages.
        table = torch.stack([rng.permutation(pages)[:most] for _ in range(batch)])
    else:
        table = rng.permutation(pages)[: batch * most].reshape(batch, most)
    used = torch.arange(most, device=rng.device)[None, :] * size < lengths[:, None]
    return {
        "q": q.to(torch.float16),
        "k_cache": k.to(torch.float16),
        "v_cache": v,
        "block_table": torch.where(used, table, -1).to(torch.int32),
        "lengths": lengths,
    }


def reference(
    q: Tensor, k_cache: Tensor, v_cache: Tensor, block_table: Tensor, lengths: Tensor
) -> Tensor:
    return _attend(q, k_cache, v_cache, block_table, lengths.tolist(), q.shape[-1] ** -0.5)


def _attend(
    q: Tensor,
    k_cache: Tensor,
    v_cache: Tensor,
    block_table: Tensor,
    lengths: list[int],
    scale: float,
) -> Tensor:
    """Computes one sequence at a time. Gathers the sequence's pages in order and then computes
    plain grouped attention."""
    wide = torch.float64 if q.dtype == torch.float64 else torch.float32
    size, kv_heads, dim = k_cache.shape[1:]
    out = torch.empty(q.shape, dtype=wide, device=q.device)
    for b, length in enumerate(lengths):
        pages = block_table[b, : -(-length // size)].long()
        k = k_cache[pages].reshape(-1, kv_heads, dim)[:length].to(wide)
        v = v_cache[pages].reshape(-1, kv_heads, dim)[:length].to(wide)
        queries = q[b].reshape(kv_heads, -1, dim).to(wide)
        p = torch.softmax((queries @ k.permute(1, 2, 0)) * scale, dim=-1)
        out[b] = (p @ v.permute(1, 0, 2)).reshape(-1, dim)
    return out


def mutants(
    q: Tensor, k_cache: Tensor, v_cache: Tensor, block_table: Tensor, lengths: Tensor
) -> dict[str, Tensor | tuple[Tensor, ...]]:
    right, size, scale = lengths.tolist(), k_cache.shape[1], q.shape[-1] ** -0.5
    batch, most = block_table.shape
    in_order = torch.arange(batch * most, device=q.device).reshape(batch, most) % k_cache.shape[0]
    swapped = q.reshape(batch, -1, k_cache.shape[2], q.shape[-1]).transpose(1, 2).reshape(q.shape)
    return {
        "block table ignored": _attend(q, k_cache, v_cache, in_order, right, scale),
        "rest of the last page counts": _attend(
            q, k_cache, v_cache, block_table, [-(-n // size) * size for n in right], scale
        ),
        "last page left out": _attend(
            q, k_cache, v_cache, block_table, [max(1, (n - 1) // size * size) for n in right], scale
        ),
        "last key left out": _attend(
            q, k_cache, v_cache, block_table, [max(1, n - 1) for n in right], scale
        ),
        "query heads taken in turn": _attend(swapped, k_cache, v_cache, block_table, right, scale),
        "scale left out": _attend(q, k_cache, v_cache, block_table, right, 1.0),
    }


def shortcuts(
    q: Tensor, k_cache: Tensor, v_cache: Tensor, block_table: Tensor, lengths: Tensor
) -> dict[str, Tensor | tuple[Tensor, ...]]:
    """Attends to the last half of the pages."""
    size, half = k_cache.shape[1], block_table.shape[1] // 2
    left = [max(1, length - half * size) for length in lengths.tolist()]
    near = _attend(q, k_cache, v_cache, block_table[:, half:], left, q.shape[-1] ** -0.5)
    return {"skip_negligible": near}


def cost(case: Case) -> Cost:
    """Returns the cost for the maximum number of pages of each sequence, because the lengths are
    not known here."""
    batch, pages, size, most = (
        case.axes[name] for name in ("batch", "pages", "page_size", "max_pages")
    )
    kv_heads, dim = case.axes["kv_heads"], case.axes["head_dim"]
    heads = kv_heads * case.axes["group"]
    traffic = 2 * 2 * pages * size * kv_heads * dim + batch * ((2 + 4) * heads * dim + 4 * most + 4)
    return Cost(bytes=traffic, flops=4 * batch * heads * most * size * dim)
