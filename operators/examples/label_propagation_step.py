"""Every edge propagates the smaller label by atomic_min. The host repeats this until no label changes (connected components)."""

import torch
import triton
import triton.language as tl


@triton.jit
def _spread_kernel(a_ptr, b_ptr, label_ptr, changed_ptr, edges, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = at < edges
    a = tl.load(a_ptr + at, mask=inside, other=0)
    b = tl.load(b_ptr + at, mask=inside, other=0)
    label_a = tl.load(label_ptr + a, mask=inside, other=0)
    label_b = tl.load(label_ptr + b, mask=inside, other=0)
    tl.atomic_min(label_ptr + a, label_b, mask=inside & (label_b < label_a))
    tl.atomic_min(label_ptr + b, label_a, mask=inside & (label_a < label_b))
    tl.atomic_or(changed_ptr, tl.max((label_a != label_b).to(tl.int32), axis=0))


def components(a, b, nodes):
    label = torch.arange(nodes, dtype=torch.int32, device=a.device)
    for _ in range(nodes):
        changed = torch.zeros(1, dtype=torch.int32, device=a.device)
        _spread_kernel[(triton.cdiv(a.numel(), 32),)](a, b, label, changed, a.numel(), BLOCK=32)
        if not changed.item():
            break
    return label


def check():
    a, b = torch.tensor([[0, 1, 5, 7, 6], [1, 2, 6, 8, 9]], dtype=torch.int32)
    assert components(a, b, 10).tolist() == [0, 0, 0, 3, 4, 5, 5, 7, 7, 5]
