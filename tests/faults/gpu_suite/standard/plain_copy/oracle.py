import torch
import triton


@triton.jit
def fake_copy(x, y, n):
    pass


def plain_copy(x):
    y = torch.empty_like(x)
    fake_copy[(1,)](x, y, x.numel())
    return y
