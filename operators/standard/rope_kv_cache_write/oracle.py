"""Each program writes one token. It loads the token's angles and slot once for all heads. It writes
each head's vector to the token's block of the cache as one contiguous piece."""

import torch
import triton
import triton.language as tl


@triton.jit
def _write_kernel(
    k_ptr,
    v_ptr,
    cos_ptr,
    sin_ptr,
    slots_ptr,
    k_cache_ptr,
    v_cache_ptr,
    heads,
    half,
    block_size,
    HEADS: tl.constexpr,
    HALF: tl.constexpr,
):
    token = tl.program_id(0).to(tl.int64)
    slot = tl.load(slots_ptr + token)
    if slot >= 0:
        head = tl.arange(0, HEADS)[:, None]
        i = tl.arange(0, HALF)[None, :]
        mask = (head < heads) & (i < half)
        source = (token * heads + head) * 2 * half + i
        block = (slot // block_size).to(tl.int64)
        target = ((block * heads + head) * block_size + slot % block_size) * 2 * half + i
        c = tl.load(cos_ptr + token * half + i, mask=i < half).to(tl.float32)
        s = tl.load(sin_ptr + token * half + i, mask=i < half).to(tl.float32)
        # Issues all loads first, so that they are in flight together.
        first = tl.load(k_ptr + source, mask=mask).to(tl.float32)
        second = tl.load(k_ptr + source + half, mask=mask).to(tl.float32)
        v_first = tl.load(v_ptr + source, mask=mask)
        v_second = tl.load(v_ptr + source + half, mask=mask)
        tl.store(k_cache_ptr + target, (first * c - second * s).to(tl.float16), mask=mask)
        tl.store(k_cache_ptr + target + half, (second * c + first * s).to(tl.float16), mask=mask)
        tl.store(v_cache_ptr + target, v_first, mask=mask)
        tl.store(v_cache_ptr + target + half, v_second, mask=mask)


def rope_kv_cache_write(
    k: torch.Tensor,
    v: torch.Tensor,
    cos: torch.Tensor,
    sin: torch.Tensor,
    slots_of: torch.Tensor,
    k_cache: torch.Tensor,
    v_cache: torch.Tensor,
) -> None:
    tokens, heads, dim = k.shape
    half = dim // 2
    head_block, half_block = triton.next_power_of_2(heads), triton.next_power_of_2(half)
    warps = 2 if head_block * half_block <= 1024 else 4
    _write_kernel[(tokens,)](
        k,
        v,
        cos,
        sin,
        slots_of,
        k_cache,
        v_cache,
        heads,
        half,
        k_cache.shape[2],
        HEADS=head_block,
        HALF=half_block,
        num_warps=warps,
    )
