"""The kernel computes causal attention without a softmax. It needs no running maximum, so it never
rescales its sums.

The decay is exp2(-alpha * log2(1 + i - j)). Blocks left of the diagonal need no mask and have their
own loop. The programs with the most blocks (those of the last queries) start first, so that short
programs fill the gaps at the end."""

import math

import torch
import triton
import triton.language as tl
from triton.tools.tensor_descriptor import TensorDescriptor


@triton.jit
def _attend(
    acc,
    squares,
    q,
    k_desc,
    v_desc,
    origin,
    first,
    last,
    rows,
    seq,
    alpha,
    BN: tl.constexpr,
    D: tl.constexpr,
    MASKED: tl.constexpr,
):
    for start in range(first, last, BN):
        keys = start + tl.arange(0, BN)
        k = tl.trans(k_desc.load([origin + start, 0]))
        v = v_desc.load([origin + start, 0])
        scores = tl.dot(q, k)
        # Positions are exact in float32. Subtracting floats avoids a conversion for each element.
        distance = (rows + 1).to(tl.float32)[:, None] - keys.to(tl.float32)[None, :]
        if MASKED:
            scores = tl.where(distance > 0.0, scores, 0.0)
            distance = tl.maximum(distance, 1.0)
        weight = scores * scores * tl.exp2(-alpha * tl.log2(distance))
        squares += tl.sum(weight * weight, axis=1)
        acc = tl.dot(weight.to(q.dtype), v, acc)
    return acc, squares


@triton.jit
def _attend_far(
    acc,
    squares,
    q,
    k_desc,
    v_desc,
    origin,
    last,
    diagonal,
    alpha,
    c0,
    c1,
    c2,
    c3,
    c4,
    c5,
    c6,
    BM: tl.constexpr,
    BN: tl.constexpr,
    D: tl.constexpr,
):
    """Computes blocks far from the diagonal without special functions. With x = 1 + diagonal -
    start, (x + r - c)^-alpha = x^-alpha (1 + (r - c) / x)^-alpha. A polynomial of degree 6
    approximates the second factor. Its error is at most 3e-5 (alpha = 2) while |r - c| / x is at
    most a quarter."""
    r = tl.arange(0, BM).to(tl.float32)
    c = tl.arange(0, BN).to(tl.float32)
    for start in range(0, last, BN):
        k = tl.trans(k_desc.load([origin + start, 0]))
        v = v_desc.load([origin + start, 0])
        scores = tl.dot(q, k)
        x = (1 + diagonal - start).to(tl.float32)
        scale = tl.exp2(-alpha * tl.log2(x))
        t = (r / x)[:, None] - (c / x)[None, :]
        decay = c6 * scale
        decay = decay * t + c5 * scale
        decay = decay * t + c4 * scale
        decay = decay * t + c3 * scale
        decay = decay * t + c2 * scale
        decay = decay * t + c1 * scale
        decay = decay * t + c0 * scale
        weight = scores * scores * decay
        squares += tl.sum(weight * weight, axis=1)
        acc = tl.dot(weight.to(q.dtype), v, acc)
    return acc, squares


@triton.jit
def _attention_kernel(
    q_desc, k_desc, v_desc, o_ptr, seq, alpha, eps, c0, c1, c2, c3, c4, c5, c6,
    BM: tl.constexpr, BN: tl.constexpr, D: tl.constexpr, FAR: tl.constexpr,
):  # fmt: skip
    block = tl.num_programs(1) - 1 - tl.program_id(1)
    origin = tl.program_id(0) * seq
    head = origin.to(tl.int64) * D
    rows = block * BM + tl.arange(0, BM)
    dims = tl.arange(0, D)
    tile = head + rows[:, None] * D + dims[None, :]
    q = q_desc.load([origin + block * BM, 0])
    acc = tl.zeros((BM, D), tl.float32)
    squares = tl.zeros((BM,), tl.float32)
    diagonal = block * BM
    far = max(diagonal - FAR + BN, 0)
    acc, squares = _attend_far(
        acc,
        squares,
        q,
        k_desc,
        v_desc,
        origin,
        far,
        diagonal,
        alpha,
        c0,
        c1,
        c2,
        c3,
        c4,
        c5,
        c6,
        BM,
        BN,
        D,
    )
    acc, squares = _attend(
        acc, squares, q, k_desc, v_desc, origin, far, diagonal, rows, seq, alpha, BN, D, False
    )
    end = min(diagonal + BM, seq)
    acc, squares = _attend(
        acc, squares, q, k_desc, v_desc, origin, diagonal, end, rows, seq, alpha, BN, D, True
    )
    tl.store(
        o_ptr + tile, acc * (1.0 / tl.sqrt(squares + eps))[:, None], mask=(rows < seq)[:, None]
    )


def _polynomial(alpha: float, reach: float) -> list[float]:
    """Returns the coefficients, lowest power first, of the polynomial that equals (1 + t)^-alpha at
    seven Chebyshev nodes of -reach .. reach."""
    nodes = [reach * math.cos(math.pi * (2 * i + 1) / 14) for i in range(7)]
    newton = [(1.0 + t) ** -alpha for t in nodes]
    for level in range(1, 7):
        for i in range(6, level - 1, -1):
            newton[i] = (newton[i] - newton[i - 1]) / (nodes[i] - nodes[i - level])
    out = [0.0] * 7
    for i in range(6, -1, -1):
        out = [newton[i] - nodes[i] * out[0]] + [
            out[j - 1] - nodes[i] * out[j] for j in range(1, 7)
        ]
    return out


def _is_amd() -> bool:
    """Returns True on AMD GPUs. The polynomial and a tile of 64 x 64 need more registers than 4 waves
    have."""
    return (
        not triton.knobs.runtime.interpret
        and triton.runtime.driver.active.get_current_target().backend == "hip"
    )


def powerlaw_square_attention(
    q: torch.Tensor, k: torch.Tensor, v: torch.Tensor, alpha: float, eps: float
) -> torch.Tensor:
    batch, heads, seq, dim = q.shape
    o = torch.empty(q.shape, dtype=torch.float32, device=q.device)
    # BM is a multiple of BN, so the unmasked loop ends exactly at the diagonal block.
    if seq <= 32:
        bm, bn, warps, stages = 16, 16, 2, 2
    elif _is_amd():
        bm, bn, warps, stages = 64, 32, 4, 2
    else:
        bm, bn, warps, stages = (128, 128, 8, 2) if seq > 512 else (64, 64, 4, 2)
    far = 4 * max(bm, bn)
    c = _polynomial(alpha, max(bm, bn) / (far + 1))
    # One view contains the rows of all heads, so the last block of a head can also read rows of the
    # next head. These rows are finite. The causal mask hides them, or their results are not stored.
    q_desc = TensorDescriptor.from_tensor(q.view(-1, dim), [bm, dim])
    k_desc = TensorDescriptor.from_tensor(k.view(-1, dim), [bn, dim])
    v_desc = TensorDescriptor.from_tensor(v.view(-1, dim), [bn, dim])
    _attention_kernel[(batch * heads, triton.cdiv(seq, bm))](
        q_desc,
        k_desc,
        v_desc,
        o,
        seq,
        alpha,
        eps,
        *c,
        BM=bm,
        BN=bn,
        D=dim,
        FAR=far,
        num_warps=warps,
        num_stages=stages,
    )
    return o
