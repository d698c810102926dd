"""Cache hints say that data read once is evict_first, and data that every program reads is evict_last (a table of prices)."""

import torch
import triton
import triton.language as tl


@triton.jit
def _cost_kernel(word_ptr, price_ptr, out_ptr, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    word = tl.load(word_ptr + at, mask=at < n, other=0, eviction_policy="evict_first")
    low = tl.load(price_ptr + (word & 0xFF), eviction_policy="evict_last")
    high = tl.load(price_ptr + ((word >> 8) & 0xFF), eviction_policy="evict_last")
    tl.store(out_ptr + at, low * 0.25 + high * 0.75, mask=at < n, cache_modifier=".cs")


def costs(words, prices):
    out = torch.empty(words.shape, device=words.device)
    _cost_kernel[(triton.cdiv(words.numel(), 64),)](words, prices, out, words.numel(), BLOCK=64)
    return out


def check():
    words, prices = torch.randint(0, 65536, (100,), dtype=torch.int32), torch.rand(256)
    torch.testing.assert_close(
        costs(words, prices),
        prices[(words & 255).long()] * 0.25 + prices[(words >> 8).long()] * 0.75,
    )
