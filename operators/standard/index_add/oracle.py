"""The kernels gather instead of scattering. The first kernel makes, for every row of `out`, a short
list of the rows of x that are added to it. Then one program for each row of `out` adds up these
rows in registers, and reads and writes the row of `out` once. Atomics only assign the list
positions, one per row of x.

If a row occurs more often than its list has positions, its program searches all indices for the
row. That is slow only for rows that occur many times as often as the others."""

import torch
import triton
import triton.language as tl

PLACES = 32
BLOCK_T = 4
BLOCK_D = 512


@triton.jit
def _place_kernel(
    indices_ptr,
    counts_ptr,
    list_ptr,
    count,
    PLACES: tl.constexpr,
    BLOCK: tl.constexpr,
    HOPPER: tl.constexpr,
):
    if HOPPER:
        # Lets the programs of the second kernel start now and load their rows of `out`. Before they
        # read the lists, these programs wait for the end of this kernel.
        tl.extra.cuda.gdc_launch_dependents()
    t = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    index = tl.load(indices_ptr + t, mask=t < count, other=0)
    rank = tl.atomic_add(counts_ptr + index, 1, mask=t < count, sem="relaxed")
    tl.store(list_ptr + index.to(tl.int64) * PLACES + rank, t, mask=(t < count) & (rank < PLACES))


@triton.jit
def _add_kernel(
    out_ptr,
    indices_ptr,
    x_ptr,
    counts_ptr,
    list_ptr,
    alpha,
    count,
    dim,
    PLACES: tl.constexpr,
    BLOCK_T: tl.constexpr,
    BLOCK_D: tl.constexpr,
    SCAN: tl.constexpr,
    HOPPER: tl.constexpr,
):
    blocks = tl.cdiv(dim, BLOCK_D)
    row = tl.program_id(0) // blocks
    columns = tl.program_id(0) % blocks * BLOCK_D + tl.arange(0, BLOCK_D)
    real = columns < dim
    place = out_ptr + row.to(tl.int64) * dim + columns
    # Loads the row early, even if no index refers to it. The indices refer to nearly all rows.
    old = tl.load(place, mask=real, other=0.0)
    lane = tl.arange(0, BLOCK_T)
    if HOPPER:
        tl.extra.cuda.gdc_wait()
    # Also loads the first entries of the list before the count is known. Entries past the count are
    # masked out below.
    early = tl.load(list_ptr + row.to(tl.int64) * PLACES + lane)
    named = tl.load(counts_ptr + row)
    acc = tl.zeros((BLOCK_T, BLOCK_D), tl.float32)
    if named <= PLACES:
        inside = lane < named
        at = tl.where(inside, early, 0).to(tl.int64)[:, None] * dim + columns[None, :]
        acc += tl.load(x_ptr + at, mask=inside[:, None] & real[None, :], other=0.0)
        for first in range(BLOCK_T, named, BLOCK_T):
            inside = first + lane < named
            t = tl.load(
                list_ptr + row.to(tl.int64) * PLACES + first + lane, mask=inside, other=0
            ).to(tl.int64)
            acc += tl.load(
                x_ptr + t[:, None] * dim + columns[None, :],
                mask=inside[:, None] & real[None, :],
                other=0.0,
            )
    else:
        for block in range(0, count, SCAN):
            candidates = block + tl.arange(0, SCAN)
            if (
                tl.max(
                    (
                        tl.load(indices_ptr + candidates, mask=candidates < count, other=-1) == row
                    ).to(tl.int32),
                    axis=0,
                )
                > 0
            ):
                for first in range(block, block + SCAN, BLOCK_T):
                    t = first + lane
                    inside = tl.load(indices_ptr + t, mask=t < count, other=-1) == row
                    at = t.to(tl.int64)[:, None] * dim + columns[None, :]
                    acc += tl.load(x_ptr + at, mask=inside[:, None] & real[None, :], other=0.0)
    tl.store(place, old + alpha * tl.sum(acc, axis=0), mask=real & (named > 0))


def _is_hopper() -> bool:
    """Returns True on Hopper and newer GPUs. Only these GPUs can start a kernel early, before the
    previous kernel has ended. Other GPUs and the interpreter cannot."""
    if triton.knobs.runtime.interpret:
        return False
    target = triton.runtime.driver.active.get_current_target()
    return target.backend == "cuda" and target.arch >= 90


def index_add(out: torch.Tensor, indices: torch.Tensor, x: torch.Tensor, alpha: float) -> None:
    count, dim = x.shape
    rows = out.shape[0]
    hopper = _is_hopper()
    together = {"launch_pdl": True} if hopper else {}
    counts = torch.zeros((rows,), dtype=torch.int32, device=x.device)
    places = torch.empty((rows, PLACES), dtype=torch.int32, device=x.device)
    _place_kernel[(triton.cdiv(count, 256),)](
        indices, counts, places, count, PLACES=PLACES, BLOCK=256, HOPPER=hopper, num_warps=4
    )
    block_d = min(BLOCK_D, triton.next_power_of_2(dim))
    block_t = BLOCK_T if block_d >= 128 else min(32, 512 // block_d)
    _add_kernel[(rows * triton.cdiv(dim, block_d),)](
        out,
        indices,
        x,
        counts,
        places,
        alpha,
        count,
        dim,
        PLACES=PLACES,
        BLOCK_T=block_t,
        BLOCK_D=block_d,
        SCAN=512,
        HOPPER=hopper,
        num_warps=max(1, block_d // 128),
        **together,
    )
