"""Sorts slots by expert and pads every expert's slots to whole blocks."""

from __future__ import annotations

import torch
from harness.operator import Case, Cost, Rng
from torch import Tensor


def inputs(case: Case, rng: Rng) -> dict[str, Tensor | int | float | bool]:
    n, experts = case.axes["n"], case.axes["experts"]
    uniform = rng.uniform((n,), torch.float32, 0.0, 1.0)
    if case.distribution == "skewed":
        expert_of = (experts * uniform**3).to(torch.int32)
    elif case.distribution == "gaps":
        # Two of three experts have no slots, including the first and the last expert.
        expert_of = (experts * uniform).to(torch.int32) // 3 * 3 + 1
    elif case.distribution == "one":
        expert_of = torch.full((n,), experts // 2, dtype=torch.int32, device=rng.device)
    else:
        expert_of = (experts * uniform).to(torch.int32)
    if case.distribution == "gaps":
        expert_of = torch.where(expert_of >= experts - 1, torch.ones_like(expert_of), expert_of)
    return {
        "expert_of": expert_of.clamp(0, experts - 1),
        "experts": experts,
        "block": case.axes["block"],
        "max_blocks": case.axes["max_blocks"],
    }


def _layout(
    expert_of: Tensor,
    order: Tensor,
    experts: int,
    block: int,
    max_blocks: int,
    least: int,
    fill: int,
) -> tuple[Tensor, Tensor, Tensor]:
    """Pads every expert's slots. `order` contains the slots sorted by expert. `least` is the
    minimum number of blocks of each expert, also of an expert without slots. `fill` is the value of
    the padding."""
    device = expert_of.device
    counts = torch.bincount(expert_of, minlength=experts)
    blocks = ((counts + block - 1) // block).clamp(min=least)
    ends = blocks.cumsum(0)
    sorted_experts = expert_of[order].long()
    rank = torch.arange(order.numel(), device=device) - (counts.cumsum(0) - counts)[sorted_experts]
    places = (ends - blocks)[sorted_experts] * block + rank
    slots = torch.full((max_blocks * block,), fill, dtype=torch.int32, device=device)
    slots[places] = order.to(torch.int32)
    number = torch.arange(max_blocks, device=device)
    owner = torch.searchsorted(ends, number, right=True).to(torch.int32)
    block_expert = torch.where(number < ends[-1], owner, torch.full_like(owner, -1))
    return slots, block_expert, (ends[-1:] * block).to(torch.int32)


def reference(
    expert_of: Tensor, experts: int, block: int, max_blocks: int
) -> tuple[Tensor, Tensor, Tensor]:
    order = torch.argsort(expert_of, stable=True)
    return _layout(expert_of, order, experts, block, max_blocks, 0, expert_of.numel())


def mutants(
    expert_of: Tensor, experts: int, block: int, max_blocks: int
) -> dict[str, Tensor | tuple[Tensor, ...]]:
    n = expert_of.numel()
    order = torch.argsort(expert_of, stable=True)
    backwards = n - 1 - torch.argsort(expert_of.flip(0), stable=True)
    slots, block_expert, used = reference(expert_of, experts, block, max_blocks)
    last = block_expert.max()
    return {
        "an expert's slots in decreasing order": _layout(
            expert_of, backwards, experts, block, max_blocks, 0, n
        ),
        "a block for experts without slots": _layout(
            expert_of, order, experts, block, max_blocks, 1, n
        ),
        "zeros in padding": _layout(expert_of, order, experts, block, max_blocks, 0, 0),
        "last expert behind the end": (
            slots,
            torch.where(block_expert < 0, last, block_expert),
            used,
        ),
        "padding not counted": (slots, block_expert, torch.full_like(used, n)),
    }


def cost(case: Case) -> Cost:
    n, block, max_blocks = case.axes["n"], case.axes["block"], case.axes["max_blocks"]
    return Cost(bytes=4 * (n + max_blocks * block + max_blocks + 1), flops=n)
