"""Each thread filters a strip of ROWS rows and four neighbouring columns. It issues all its loads
before it computes. From each row it loads its four pixels as one vector. It also loads the pixel to
the left and the pixel to the right of these four; both are usually in the L1 cache.

The median needs no full sort. After each column of three pixels is sorted, the median of the nine
pixels is the median of three values: the largest of the three minima, the median of the three
medians, and the smallest of the three maxima. Each column is sorted once, and every window that
contains the column uses the result. Only every second pixel of a row needs a median. The parity of
the row's index determines whether these are the even or the odd pixels."""

import torch
import triton
import triton.language as tl

ROWS = 8
BLOCK = 128


@triton.jit
def _sort3(a, b, c):
    low, high = tl.minimum(a, b), tl.maximum(a, b)
    return tl.minimum(low, c), tl.maximum(low, tl.minimum(high, c)), tl.maximum(high, c)


@triton.jit
def _median(low_a, middle_a, high_a, low_b, middle_b, high_b, low_c, middle_c, high_c):
    low = tl.maximum(tl.maximum(low_a, low_b), low_c)
    high = tl.minimum(tl.minimum(high_a, high_b), high_c)
    inner = tl.maximum(
        tl.minimum(middle_a, middle_b), tl.minimum(tl.maximum(middle_a, middle_b), middle_c)
    )
    return tl.maximum(tl.minimum(low, inner), tl.minimum(tl.maximum(low, inner), high))


@triton.jit
def _quads_kernel(
    x_ptr,
    y_ptr,
    total,
    height,
    width,
    quads,
    strips,
    EVEN: tl.constexpr,
    ROWS: tl.constexpr,
    BLOCK: tl.constexpr,
):
    index = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    here = index < total
    strip = index // quads
    image = strip // strips
    top = strip % strips * ROWS
    column = index % quads * 4
    lane = tl.arange(0, 4)[None, :]
    start = image.to(tl.int64) * height * width
    before = tl.maximum(column - 1, 0)
    after = tl.minimum(column + 4, width - 1)
    rows = ()
    for r in tl.static_range(-1, ROWS + 1):
        # Clamping rows and columns to the image replicates its border.
        line = start + tl.minimum(tl.maximum(top + r, 0), height - 1) * width
        left = tl.load(x_ptr + line + before, mask=here, other=0.0).to(tl.float32)
        right = tl.load(x_ptr + line + after, mask=here, other=0.0).to(tl.float32)
        if EVEN:
            quad = tl.load(x_ptr + (line + column)[:, None] + lane, mask=here[:, None], other=0.0)
        else:
            quad = tl.load(
                x_ptr + line[:, None] + tl.minimum(column[:, None] + lane, width - 1),
                mask=here[:, None],
                other=0.0,
            )
        even, odd = tl.split(tl.reshape(quad.to(tl.float32), (BLOCK, 2, 2)))
        a, c = tl.split(even)
        b, d = tl.split(odd)
        rows = rows + (left, a, b, c, d, right)
    for r in tl.static_range(ROWS):
        low = ()
        middle = ()
        high = ()
        sums = ()
        for k in tl.static_range(6):
            p, q, s = rows[6 * r + k], rows[6 * r + 6 + k], rows[6 * r + 12 + k]
            l3, m3, h3 = _sort3(p, q, s)
            low = low + (l3,)
            middle = middle + (m3,)
            high = high + (h3,)
            sums = sums + (p + q + s,)
        y = ()
        for k in tl.static_range(4):
            # Even pixels get a median: those whose row plus column is even. `top` and `column` are
            # even, so r + k has the same parity as row plus column.
            if (r + k) % 2 == 0:
                value = _median(
                    low[k],
                    middle[k],
                    high[k],
                    low[k + 1],
                    middle[k + 1],
                    high[k + 1],
                    low[k + 2],
                    middle[k + 2],
                    high[k + 2],
                )
            else:
                value = (sums[k] + sums[k + 1] + sums[k + 2]) * (1.0 / 9.0)
            y = y + (value,)
        joined = tl.reshape(tl.join(tl.join(y[0], y[2]), tl.join(y[1], y[3])), (BLOCK, 4)).to(
            y_ptr.dtype.element_ty
        )
        whole = (here & (top + r < height))[:, None]
        if not EVEN:
            whole = whole & (column[:, None] + lane < width)
        tl.store(y_ptr + (start + (top + r) * width + column)[:, None] + lane, joined, mask=whole)


def checker_median_mean_filter(x: torch.Tensor) -> torch.Tensor:
    y = torch.empty_like(x)
    images, height, width = x.shape
    quads = triton.cdiv(width, 4)
    strips = triton.cdiv(height, ROWS)
    total = images * strips * quads
    _quads_kernel[(triton.cdiv(total, BLOCK),)](
        x,
        y,
        total,
        height,
        width,
        quads,
        strips,
        EVEN=width % 4 == 0,
        ROWS=ROWS,
        BLOCK=BLOCK,
        num_warps=BLOCK // 32,
    )
    return y
