"""Three kernels compute a stable counting sort. The first counts the slots per tile and expert. The
second computes the running sums of these counts. The third sorts every tile and writes it.

One warp sorts the keys of a tile in its registers. A key contains the expert in its high bits and
the slot's index in the tile in its low bits. So the order is deterministic; with atomics it would
not be. The slots of an expert become neighbours and are written together, with an offset that
depends only on the expert. The low bits of a key's position select a register of a thread. So most
compare-exchanges of the bitonic network are one minimum or maximum within a thread. The third
kernel has additional programs. They write the padding, and the expert of each block of slots."""

import torch
import triton
import triton.language as tl

LANES = 32


@triton.jit
def _side(LOG: tl.constexpr, BIT: tl.constexpr):
    """Returns a tensor with the value of bit BIT of each key's position. The tensor has a dimension
    of size 2 for this bit, and size 1 in all other dimensions."""
    return tl.reshape(tl.arange(0, 2), [1] * (LOG - BIT - 1) + [2] + [1] * BIT)


@triton.jit
def _sort(h, LOG: tl.constexpr):
    """Sorts a hypercube of int32 by a bitonic network. Descending runs are sorted as ascending runs
    of complements."""
    for stage in tl.static_range(1, LOG + 1):
        # The runs of a stage have 2^stage keys. Every second run is complemented. The last stage
        # has a single run.
        if stage == 1:
            h ^= -_side(LOG, 1)
        elif stage < LOG:
            h ^= -(_side(LOG, stage - 1) ^ _side(LOG, stage))
        else:
            h ^= -_side(LOG, LOG - 1)
        for i in tl.static_range(stage):
            other = h ^ tl.xor_sum(h, LOG - stage + i, True)
            h = tl.where(_side(LOG, stage - 1 - i) != 0, tl.maximum(h, other), tl.minimum(h, other))
    return h


@triton.jit
def _count_kernel(
    expert_ptr, counts_ptr, n, experts, tiles, TILE: tl.constexpr, BINS: tl.constexpr
):
    tile = tl.program_id(0)
    offsets = tile * TILE + tl.arange(0, TILE)
    mask = offsets < n
    counts = tl.histogram(tl.load(expert_ptr + offsets, mask=mask, other=0), BINS, mask=mask)
    bins = tl.arange(0, BINS)
    tl.store(counts_ptr + bins * tiles + tile, counts, mask=bins < experts)


@triton.jit
def _scan_kernel(counts_ptr, before_ptr, totals_ptr, tiles, BLOCK: tl.constexpr):
    row = tl.program_id(0) * tiles
    lane = tl.arange(0, BLOCK)
    total = 0
    for first in range(0, tiles, BLOCK):
        mask = first + lane < tiles
        counts = tl.load(counts_ptr + row + first + lane, mask=mask, other=0)
        tl.store(
            before_ptr + row + first + lane, total + tl.cumsum(counts, axis=0) - counts, mask=mask
        )
        total += tl.sum(counts, axis=0)
    tl.store(totals_ptr + tl.program_id(0), total)


@triton.jit
def _pad(
    program,
    room,
    totals,
    slots_ptr,
    owner_ptr,
    used_ptr,
    n,
    block,
    max_blocks,
    BLOCKS: tl.constexpr,
    WIDTH: tl.constexpr,
):
    ends = tl.cumsum(room, axis=0)
    used = tl.sum(room, axis=0)
    number = program * BLOCKS + tl.arange(0, BLOCKS)
    start = number * block
    inside = start < used
    owner = tl.sum((ends[None, :] <= start[:, None]).to(tl.int32), axis=1)
    tl.store(owner_ptr + number, tl.where(inside, owner, -1), mask=number < max_blocks)
    owner = tl.where(inside, owner, 0)
    filled = tl.where(inside, tl.gather(ends - room + totals, owner, 0) - start, 0)
    lane = tl.arange(0, WIDTH)
    empty = (
        (lane[None, :] >= filled[:, None])
        & (lane < block)[None, :]
        & (number < max_blocks)[:, None]
    )
    tl.store(
        slots_ptr + start[:, None] + lane[None, :],
        tl.full((BLOCKS, WIDTH), 0, tl.int32) + n,
        mask=empty,
    )
    if program == 0:
        tl.store(used_ptr, used)


@triton.jit
def _place_kernel(
    expert_ptr, counts_ptr, before_ptr, totals_ptr, slots_ptr, owner_ptr, used_ptr, n, experts, tiles, block, max_blocks,
    LOG: tl.constexpr, HIGH: tl.constexpr, THREADS: tl.constexpr, BINS: tl.constexpr, BLOCKS: tl.constexpr, WIDTH: tl.constexpr,
):  # fmt: skip
    tile = tl.program_id(0)
    bins = tl.arange(0, BINS)
    known = bins < experts
    totals = tl.load(totals_ptr + bins, mask=known, other=0)
    room = tl.cdiv(totals, block) * block
    if tile >= tiles:
        _pad(
            tile - tiles,
            room,
            totals,
            slots_ptr,
            owner_ptr,
            used_ptr,
            n,
            block,
            max_blocks,
            BLOCKS,
            WIDTH,
        )
    else:
        place = tl.arange(0, 1 << LOG)
        slot = (tile << LOG) + place
        # Entries past the end get an expert number that is larger than every real number, so they
        # are sorted to the end.
        expert = tl.load(expert_ptr + slot, mask=slot < n, other=0x3FFFF)
        key = (expert << LOG) | place
        counts = tl.load(counts_ptr + bins * tiles + tile, mask=known, other=0)
        # `shift` is, for each expert, the difference between a slot's position in the output and
        # its position in the sorted tile.
        shift = (
            tl.load(before_ptr + bins * tiles + tile, mask=known, other=0)
            + tl.cumsum(room - counts, axis=0)
            - (room - counts)
        )
        # Makes the thread index the highest bits of a key's position. The permutation needs no
        # instruction. It may change the order of the keys, because they are not sorted yet.
        key = tl.permute(tl.reshape(key, (HIGH, THREADS, 4)), (1, 0, 2))
        key = tl.reshape(_sort(tl.reshape(key, [2] * LOG), LOG), (1 << LOG,))
        expert = key >> LOG
        target = place + tl.gather(shift, tl.minimum(expert, BINS - 1), 0)
        tl.store(slots_ptr + target, (tile << LOG) | (key & ((1 << LOG) - 1)), mask=expert < BINS)


def _registers(most: int) -> dict[str, int]:
    """Returns a launch option that limits registers, if the compiler accepts such a limit (ptxas
    does)."""
    if (
        triton.knobs.runtime.interpret
        or triton.runtime.driver.active.get_current_target().backend != "cuda"
    ):
        return {}
    return {"maxnreg": most}


def moe_permute_align(
    expert_of: torch.Tensor, experts: int, block: int, max_blocks: int
) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    n = expert_of.numel()
    log = 10 if n >= 1 << 18 else 9
    tile = 1 << log
    tiles = triton.cdiv(n, tile)
    bins = max(LANES, triton.next_power_of_2(experts))
    width = triton.next_power_of_2(block)
    blocks = max(1, 1024 // max(width, bins))
    like = {"dtype": torch.int32, "device": expert_of.device}
    slots = torch.empty((max_blocks * block,), **like)
    owner = torch.empty((max_blocks,), **like)
    used = torch.empty((1,), **like)
    counts = torch.empty((experts, tiles), **like)
    before = torch.empty((experts, tiles), **like)
    totals = torch.empty((experts,), **like)
    _count_kernel[(tiles,)](expert_of, counts, n, experts, tiles, TILE=tile, BINS=bins, num_warps=4)
    _scan_kernel[(experts,)](counts, before, totals, tiles, BLOCK=4096, num_warps=8)
    _place_kernel[(tiles + triton.cdiv(max_blocks, blocks),)](
        expert_of, counts, before, totals, slots, owner, used, n, experts, tiles, block, max_blocks,
        LOG=log, HIGH=tile // (LANES * 4), THREADS=LANES, BINS=bins, BLOCKS=blocks, WIDTH=width, num_warps=1, **_registers(128),
    )  # fmt: skip
    return slots, owner, used
