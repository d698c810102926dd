"""tl.flip mirrors a block in registers. A reduction over the comparison finds the rows that read the same backwards."""

import torch
import triton
import triton.language as tl


@triton.jit
def _palindrome_kernel(x_ptr, out_ptr, N: tl.constexpr):
    x = tl.load(x_ptr + tl.program_id(0) * N + tl.arange(0, N))
    tl.store(
        out_ptr + tl.program_id(0), tl.min((x == tl.flip(x, 0)).to(tl.int32), axis=0).to(tl.int8)
    )


def is_palindrome(x):
    out = torch.empty(x.shape[0], dtype=torch.int8, device=x.device)
    _palindrome_kernel[(x.shape[0],)](x, out, N=x.shape[1])
    return out


def check():
    x = torch.tensor([list(b"abccbaab"), list(b"abcddcba"), list(b"zzzzzzzz")], dtype=torch.uint8)
    assert is_palindrome(x).tolist() == [0, 1, 1]
