"""Eight flags become the bits of a byte. A tile [BLOCK, 8] is shifted by its column index and summed over the columns, to pack bits."""

import torch
import triton
import triton.language as tl


@triton.jit
def _pack_kernel(flag_ptr, out_ptr, n, BLOCK: tl.constexpr):
    byte = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    bit = tl.arange(0, 8)[None, :]
    at = byte[:, None] * 8 + bit
    flag = tl.load(flag_ptr + at, mask=at < n, other=0).to(tl.int32)
    tl.store(out_ptr + byte, tl.sum(flag << bit, axis=1).to(tl.uint8), mask=byte * 8 < n)


def pack_booleans(flags):
    out = torch.empty(triton.cdiv(flags.numel(), 8), dtype=torch.uint8, device=flags.device)
    _pack_kernel[(triton.cdiv(out.numel(), 32),)](flags, out, flags.numel(), BLOCK=32)
    return out


def check():
    import numpy

    flags = torch.rand(300) < 0.5
    assert (
        pack_booleans(flags).tolist() == numpy.packbits(flags.numpy(), bitorder="little").tolist()
    )
