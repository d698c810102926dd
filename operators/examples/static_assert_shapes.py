"""tl.static_assert and tl.static_print check values during compilation. A wrong block size fails early, with a message."""

import torch
import triton
import triton.language as tl


@triton.jit
def _fold_kernel(x_ptr, out_ptr, WIDTH: tl.constexpr, FOLDS: tl.constexpr):
    tl.static_assert(WIDTH % FOLDS == 0, "WIDTH must be a multiple of FOLDS")
    x = tl.load(x_ptr + tl.program_id(0) * WIDTH + tl.arange(0, WIDTH))
    folded = tl.sum(tl.reshape(x, (FOLDS, WIDTH // FOLDS)), axis=0)
    tl.static_assert(folded.shape[0] == WIDTH // FOLDS)
    tl.store(out_ptr + tl.program_id(0) * (WIDTH // FOLDS) + tl.arange(0, WIDTH // FOLDS), folded)


def fold(x, folds):
    out = torch.empty((x.shape[0], x.shape[1] // folds), device=x.device)
    _fold_kernel[(x.shape[0],)](x, out, WIDTH=x.shape[1], FOLDS=folds)
    return out


def check():
    x = torch.randn(3, 64)
    torch.testing.assert_close(fold(x, 4), x.reshape(3, 4, 16).sum(1), atol=1e-5, rtol=1e-5)
