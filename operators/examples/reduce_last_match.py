"""A maximum over indices finds the last match. Elements that do not match count as index -1 (last byte equal to a key)."""

import torch
import triton
import triton.language as tl


@triton.jit
def _last_match_kernel(text_ptr, out_ptr, length, key, BLOCK: tl.constexpr):
    best = tl.full([BLOCK], -1, tl.int32)
    line = tl.program_id(0) * length
    for start in range(0, length, BLOCK):
        at = start + tl.arange(0, BLOCK)
        byte = tl.load(text_ptr + line + at, mask=at < length, other=0)
        best = tl.maximum(best, tl.where((byte == key) & (at < length), at, -1))
    tl.store(out_ptr + tl.program_id(0), tl.max(best, axis=0))


def last_match(text, key):
    out = torch.empty(text.shape[0], dtype=torch.int32, device=text.device)
    _last_match_kernel[(text.shape[0],)](text, out, text.shape[1], key, BLOCK=16)
    return out


def check():
    lines = [
        b"hello world, hello moon     ",
        b"no such letter here, truly  ".replace(b"o", b"u"),
        b"o                          o",
    ]
    text = torch.tensor([list(line) for line in lines], dtype=torch.uint8)
    assert last_match(text, ord("o")).tolist() == [line.rfind(b"o") for line in lines]
