"""One launch works on a list of tensors. Their addresses are int64 values, which the kernel casts to pointers (span of each tensor)."""

import torch
import triton
import triton.language as tl


@triton.jit
def _span_kernel(address_ptr, length_ptr, out_ptr, BLOCK: tl.constexpr):
    which = tl.program_id(0)
    x_ptr = tl.load(address_ptr + which).to(tl.pointer_type(tl.float32))
    length = tl.load(length_ptr + which)
    at = tl.arange(0, BLOCK)
    low = tl.min(tl.load(x_ptr + at, mask=at < length, other=float("inf")), axis=0)
    high = tl.max(tl.load(x_ptr + at, mask=at < length, other=-float("inf")), axis=0)
    tl.store(out_ptr + which, high - low)


def spans(tensors):
    device = tensors[0].device
    addresses = torch.tensor([t.data_ptr() for t in tensors], device=device)
    lengths = torch.tensor([t.numel() for t in tensors], dtype=torch.int32, device=device)
    out = torch.empty(len(tensors), device=device)
    _span_kernel[(len(tensors),)](
        addresses, lengths, out, BLOCK=triton.next_power_of_2(max(t.numel() for t in tensors))
    )
    return out


def check():
    tensors = [torch.randn(n) for n in (5, 100, 33)]
    torch.testing.assert_close(spans(tensors), torch.stack([t.max() - t.min() for t in tensors]))
