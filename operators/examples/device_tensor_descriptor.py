"""A tensor descriptor made in the kernel (TMA on Hopper): element offsets select a tile, and edges need no mask.

The descriptor lives in scratch memory, so the host sets an allocator once. The last stride must be 1, the others multiples of 16 bytes.
"""

import torch
import triton
import triton.language as tl


@triton.jit
def _reciprocal_kernel(x_ptr, out_ptr, rows, cols, TILE: tl.constexpr):
    source = tl.make_tensor_descriptor(x_ptr, [rows, cols], [cols, 1], [TILE, TILE])
    target = tl.make_tensor_descriptor(out_ptr, [rows, cols], [cols, 1], [TILE, TILE])
    i, j = tl.program_id(0) * TILE, tl.program_id(1) * TILE
    target.store([i, j], 1.0 / (1.0 + source.load([i, j])))


def reciprocal_of_successor(x):
    triton.set_allocator(
        lambda size, alignment, stream: torch.empty(size, dtype=torch.int8, device=x.device)
    )
    out = torch.empty_like(x)
    _reciprocal_kernel[(triton.cdiv(x.shape[0], 16), triton.cdiv(x.shape[1], 16))](
        x, out, *x.shape, TILE=16
    )
    return out


def check():
    x = torch.rand(20, 36)
    torch.testing.assert_close(reciprocal_of_successor(x), 1 / (1 + x))
