"""Scattered tl.atomic_min finds where each label occurs first, in any order of programs. The output starts with the largest index."""

import torch
import triton
import triton.language as tl


@triton.jit
def _first_seen_kernel(label_ptr, first_ptr, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    label = tl.load(label_ptr + at, mask=at < n, other=0)
    tl.atomic_min(first_ptr + label, at, mask=at < n, sem="relaxed")


def first_seen(labels, classes):
    first = torch.full((classes,), labels.numel(), dtype=torch.int32, device=labels.device)
    _first_seen_kernel[(triton.cdiv(labels.numel(), 32),)](labels, first, labels.numel(), BLOCK=32)
    return first


def check():
    assert first_seen(torch.tensor([2, 0, 2, 3, 0], dtype=torch.int32), 5).tolist() == [
        1,
        5,
        0,
        3,
        5,
    ]
