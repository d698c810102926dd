"""Row r of ragged rows (of variable length) is offsets[r] to offsets[r + 1]. Rows are read in blocks; empty rows get a defined value."""

import torch
import triton
import triton.language as tl


@triton.jit
def _gap_kernel(value_ptr, offset_ptr, out_ptr, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    begin = tl.load(offset_ptr + row)
    end = tl.load(offset_ptr + row + 1)
    widest = tl.zeros([BLOCK], tl.float32)
    for start in range(begin, end - 1, BLOCK):
        at = start + tl.arange(0, BLOCK)
        inside = at + 1 < end
        here = tl.load(value_ptr + at, mask=inside, other=0.0)
        after = tl.load(value_ptr + at + 1, mask=inside, other=0.0)
        widest = tl.maximum(widest, after - here)
    tl.store(out_ptr + row, tl.max(widest, axis=0))


def widest_gap(values, offsets):
    """Returns the widest gap between ascending values of each row, or 0 if a row has fewer than two
    values."""
    out = torch.empty(offsets.numel() - 1, device=values.device)
    _gap_kernel[(out.numel(),)](values, offsets, out, BLOCK=8)
    return out


def check():
    rows = [torch.randn(n).sort().values for n in (5, 0, 1, 30)]
    offsets = torch.tensor([0, 5, 5, 6, 36], dtype=torch.int32)
    want = torch.stack([row.diff().max() if row.numel() > 1 else torch.tensor(0.0) for row in rows])
    torch.testing.assert_close(widest_gap(torch.cat(rows), offsets), want)
