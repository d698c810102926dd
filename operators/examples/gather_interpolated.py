"""Two loads gather the neighbours in a table for an interpolation. Their indices are clamped, so that the loads need no mask."""

import torch
import triton
import triton.language as tl


@triton.jit
def _lookup_kernel(x_ptr, table_ptr, out_ptr, n, entries, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    place = tl.clamp(tl.load(x_ptr + at, mask=at < n, other=0.0), 0.0, 1.0) * (entries - 1)
    low = tl.minimum(place.to(tl.int32), entries - 2)
    share = place - low
    left = tl.load(table_ptr + low)
    right = tl.load(table_ptr + low + 1)
    tl.store(out_ptr + at, left + share * (right - left), mask=at < n)


def lookup(x, table):
    """Interpolates at x in [0, 1]. The table has at least two entries."""
    out = torch.empty_like(x)
    _lookup_kernel[(triton.cdiv(x.numel(), 64),)](x, table, out, x.numel(), table.numel(), BLOCK=64)
    return out


def check():
    import numpy

    x, table = torch.rand(90) * 1.4 - 0.2, torch.randn(17)
    want = numpy.interp(x.numpy(), numpy.linspace(0, 1, 17), table.numpy())
    torch.testing.assert_close(
        lookup(x, table), torch.from_numpy(want).float(), atol=1e-5, rtol=1e-4
    )
