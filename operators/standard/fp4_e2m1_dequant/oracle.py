"""The kernel converts MXFP4 to 16-bit floats. It moves the bits of an e2m1 value to the sign bit,
the two lowest exponent bits and the highest mantissa bit of a float16. The float16 number with
these bits is the value times 2^-14, also for the subnormal value 0.5. So the kernel needs one
conversion and one multiplication by a power of two, and no table."""

import torch
import triton
import triton.language as tl


@triton.jit
def _value(nibble):
    bits = ((nibble & 8) << 12) | ((nibble & 7) << 9)
    return bits.to(tl.int16).to(tl.float16, bitcast=True).to(tl.float32)


@triton.jit
def _dequant_kernel(packed_ptr, scale_ptr, y_ptr, count, GROUPS: tl.constexpr):
    # The last group of a row is directly followed by the first group of the next row. So the kernel
    # treats the matrix as one long sequence of groups.
    group = tl.program_id(0).to(tl.int64) * GROUPS + tl.arange(0, GROUPS)
    inside = (group < count)[:, None]
    byte = tl.load(
        packed_ptr + group[:, None] * 16 + tl.arange(0, 16)[None, :], mask=inside, other=0
    ).to(tl.int32)
    scale = tl.load(scale_ptr + group, mask=group < count, other=127).to(tl.int32)
    factor = ((scale + 14) << 23).to(tl.float32, bitcast=True)[:, None]
    dtype = y_ptr.dtype.element_ty
    y = tl.interleave((_value(byte) * factor).to(dtype), (_value(byte >> 4) * factor).to(dtype))
    tl.store(y_ptr + group[:, None] * 32 + tl.arange(0, 32)[None, :], y, mask=inside)


def fp4_e2m1_dequant(packed: torch.Tensor, scale: torch.Tensor, half: bool) -> torch.Tensor:
    rows, groups = scale.shape
    y = torch.empty(
        (rows, 32 * groups), dtype=torch.float16 if half else torch.bfloat16, device=packed.device
    )
    count = rows * groups
    _dequant_kernel[(triton.cdiv(count, 256),)](packed, scale, y, count, GROUPS=256, num_warps=8)
    return y
