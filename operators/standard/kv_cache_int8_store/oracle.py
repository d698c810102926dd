"""Each program stores the keys and values of one token. It reads all heads of the token once, as
one tile. Then it scales and rounds the tile and writes it to the token's slot."""

import torch
import triton
import triton.language as tl

# The value is 1.5 * 2^23. A float32 of this size has no fraction bits. So adding the value to a
# small float and subtracting it again rounds the float to an integer, ties to even.
ROUND_MAGIC: tl.constexpr = tl.constexpr(12582912.0)


@triton.jit
def _store(
    x_ptr, cache_ptr, scale_ptr, token, slot, heads, dim, HEADS: tl.constexpr, DIM: tl.constexpr
):
    head = tl.arange(0, HEADS)
    d = tl.arange(0, DIM)
    mask = (head < heads)[:, None] & (d < dim)[None, :]
    at = head[:, None] * dim + d[None, :]
    x = tl.load(x_ptr + token * heads * dim + at, mask=mask, other=0.0).to(tl.float32)
    greatest = tl.max(tl.abs(x), axis=1)
    tl.store(
        scale_ptr + slot * heads + head,
        tl.div_rn(greatest, tl.full((HEADS,), 127.0, tl.float32)),
        mask=head < heads,
    )
    inverse = tl.where(
        greatest > 0.0,
        tl.div_rn(tl.full((HEADS,), 127.0, tl.float32), tl.maximum(greatest, 1e-30)),
        0.0,
    )
    rounded = (x * inverse[:, None] + ROUND_MAGIC) - ROUND_MAGIC
    tl.store(cache_ptr + slot * heads * dim + at, rounded.to(tl.int8), mask=mask)


@triton.jit
def _store_kernel(
    k_ptr,
    v_ptr,
    slots_ptr,
    k_cache_ptr,
    v_cache_ptr,
    k_scale_ptr,
    v_scale_ptr,
    heads,
    dim,
    HEADS: tl.constexpr,
    DIM: tl.constexpr,
):
    token = tl.program_id(0).to(tl.int64)
    slot = tl.load(slots_ptr + token).to(tl.int64)
    if slot >= 0:
        _store(k_ptr, k_cache_ptr, k_scale_ptr, token, slot, heads, dim, HEADS, DIM)
        _store(v_ptr, v_cache_ptr, v_scale_ptr, token, slot, heads, dim, HEADS, DIM)


def kv_cache_int8_store(
    k: torch.Tensor,
    v: torch.Tensor,
    slots_of: torch.Tensor,
    k_cache: torch.Tensor,
    v_cache: torch.Tensor,
    k_scale: torch.Tensor,
    v_scale: torch.Tensor,
) -> None:
    tokens, heads, dim = k.shape
    head_block, dim_block = triton.next_power_of_2(heads), triton.next_power_of_2(dim)
    warps = 2 if head_block * dim_block <= 1024 else 4 if head_block * dim_block <= 4096 else 8
    _store_kernel[(tokens,)](
        k,
        v,
        slots_of,
        k_cache,
        v_cache,
        k_scale,
        v_scale,
        heads,
        dim,
        HEADS=head_block,
        DIM=dim_block,
        num_warps=warps,
    )
