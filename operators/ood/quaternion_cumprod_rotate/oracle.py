"""The kernels compute running products of quaternions as an associative scan. They keep the order
of factors, since the product does not commute.

Many rows: each program computes one row, one block at a time, and passes the last product to the
next block. If a row's length is a multiple of the vector length, each lane takes four neighbouring
steps. It computes three products of its own, and the scan combines one product per lane. All loads
and stores of q, v and y are then 16-byte vectors, and the loads of the next two blocks are issued
before the scan.

Few rows: each program computes one chunk of a row. The first kernel multiplies each chunk. The
second kernel scans the products of a row's chunks. The third kernel scans each chunk and starts
with the product of everything before it."""

import torch
import triton
import triton.language as tl

ROWS_TO_FILL_A_GPU = 512
MOST_LANES = 32


@triton.jit
def _times(w1, x1, y1, z1, w2, x2, y2, z2):
    w = w1 * w2 - x1 * x2 - y1 * y2 - z1 * z2
    x = w1 * x2 + x1 * w2 + y1 * z2 - z1 * y2
    y = w1 * y2 - x1 * z2 + y1 * w2 + z1 * x2
    z = w1 * z2 + x1 * y2 - y1 * x2 + z1 * w2
    return w, x, y, z


@triton.jit
def _load_quaternions(q_ptr, at, mask, BLOCK: tl.constexpr):
    # Loads each quaternion as one 16-byte vector. Lanes past the end contain the identity, so the
    # last lane contains the product of all quaternions.
    part = tl.arange(0, 4)[None, :]
    q = tl.load(q_ptr + at[:, None] * 4 + part, mask=mask[:, None], other=0.0)
    q = tl.where(mask[:, None] | (part > 0), q, 1.0)
    even, odd = tl.split(tl.reshape(q, (BLOCK, 2, 2)))
    w, y = tl.split(even)
    x, z = tl.split(odd)
    return w, x, y, z


@triton.jit
def _last(values, lane, BLOCK: tl.constexpr):
    return tl.sum(tl.where(lane == BLOCK - 1, values, 0.0), axis=0)


@triton.jit
def _rotate_block(v_ptr, y_ptr, at, mask, w, x, y, z):
    a = tl.load(v_ptr + at * 3, mask=mask, other=0.0)
    b = tl.load(v_ptr + at * 3 + 1, mask=mask, other=0.0)
    c = tl.load(v_ptr + at * 3 + 2, mask=mask, other=0.0)
    # Dividing by the squared norm corrects the drift of the norm in a long product.
    double = 2.0 / (w * w + x * x + y * y + z * z)
    p, q, r = (y * c - z * b) * double, (z * a - x * c) * double, (x * b - y * a) * double
    tl.store(y_ptr + at * 3, a + w * p + (y * r - z * q), mask=mask)
    tl.store(y_ptr + at * 3 + 1, b + w * q + (z * p - x * r), mask=mask)
    tl.store(y_ptr + at * 3 + 2, c + w * r + (x * q - y * p), mask=mask)


@triton.jit
def _row_kernel(q_ptr, v_ptr, y_ptr, steps, BLOCK: tl.constexpr):
    start = tl.program_id(0).to(tl.int64) * steps
    lane = tl.arange(0, BLOCK)
    w0, x0, y0, z0 = 1.0, 0.0, 0.0, 0.0
    for first in range(0, steps, BLOCK):
        mask = first + lane < steps
        at = start + first + lane
        w, x, y, z = _load_quaternions(q_ptr, at, mask, BLOCK)
        w, x, y, z = tl.associative_scan((w, x, y, z), 0, _times)
        w, x, y, z = _times(w0, x0, y0, z0, w, x, y, z)
        _rotate_block(v_ptr, y_ptr, at, mask, w, x, y, z)
        w0, x0, y0, z0 = (
            _last(w, lane, BLOCK),
            _last(x, lane, BLOCK),
            _last(y, lane, BLOCK),
            _last(z, lane, BLOCK),
        )


@triton.jit
def _four(ptr, lane4, mask, T: tl.constexpr):
    # Loads one 16-byte vector per lane and splits it into four values.
    even, odd = tl.split(tl.reshape(tl.load(ptr + lane4, mask=mask[:, None], other=0.0), (T, 2, 2)))
    a, c = tl.split(even)
    b, d = tl.split(odd)
    return a, b, c, d


@triton.jit
def _store_four(ptr, lane4, mask, a, b, c, d, T: tl.constexpr):
    tl.store(
        ptr + lane4, tl.reshape(tl.join(tl.join(a, c), tl.join(b, d)), (T, 4)), mask=mask[:, None]
    )


@triton.jit
def _rotate(w, x, y, z, a, b, c):
    # Dividing by the squared norm corrects the drift of the norm in a long product.
    double = 2.0 / (w * w + x * x + y * y + z * z)
    p, q, r = (y * c - z * b) * double, (z * a - x * c) * double, (x * b - y * a) * double
    return a + w * p + (y * r - z * q), b + w * q + (z * p - x * r), c + w * r + (x * q - y * p)


@triton.jit
def _fetch(q_row, v_row, lane, first, steps, T: tl.constexpr):
    part = tl.arange(0, 4)[None, :]
    step = first + lane * 4
    mask = step < steps
    at = (step * 4)[:, None] + part
    v_at = (step * 3)[:, None] + part
    w0, x0, y0, z0 = _four(q_row, at, mask, T)
    w1, x1, y1, z1 = _four(q_row + 4, at, mask, T)
    w2, x2, y2, z2 = _four(q_row + 8, at, mask, T)
    w3, x3, y3, z3 = _four(q_row + 12, at, mask, T)
    a0, b0, c0, a1 = _four(v_row, v_at, mask, T)
    b1, c1, a2, b2 = _four(v_row + 4, v_at, mask, T)
    c2, a3, b3, c3 = _four(v_row + 8, v_at, mask, T)
    return (
        (w0, x0, y0, z0, w1, x1, y1, z1, w2, x2, y2, z2, w3, x3, y3, z3),
        (a0, b0, c0, a1, b1, c1, a2, b2, c2, a3, b3, c3),
    )


@triton.jit
def _fours_kernel(q_ptr, v_ptr, y_ptr, steps, T: tl.constexpr, LOOP: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    q_row = q_ptr + row * steps * 4
    v_row = v_ptr + row * steps * 3
    y_row = y_ptr + row * steps * 3
    lane = tl.arange(0, T)
    part = tl.arange(0, 4)[None, :]
    wc, xc, yc, zc = 1.0, 0.0, 0.0, 0.0
    q, v = _fetch(q_row, v_row, lane, 0, steps, T)
    if LOOP:
        q_next, v_next = _fetch(q_row, v_row, lane, 4 * T, steps, T)
    for first in range(0, steps, 4 * T):
        if LOOP:
            q_later, v_later = _fetch(q_row, v_row, lane, first + 8 * T, steps, T)
        w1, x1, y1, z1 = _times(q[0], q[1], q[2], q[3], q[4], q[5], q[6], q[7])
        w2, x2, y2, z2 = _times(w1, x1, y1, z1, q[8], q[9], q[10], q[11])
        w3, x3, y3, z3 = _times(w2, x2, y2, z2, q[12], q[13], q[14], q[15])
        w, x, y, z = tl.associative_scan((w3, x3, y3, z3), 0, _times)
        w, x, y, z = _times(wc, xc, yc, zc, w, x, y, z)
        # The scan's product includes the lane's own four steps. Multiplying by their inverse gives
        # the product before them.
        we, xe, ye, ze = _times(w, x, y, z, w3, -x3, -y3, -z3)
        w0, x0, y0, z0 = _times(we, xe, ye, ze, q[0], q[1], q[2], q[3])
        w1, x1, y1, z1 = _times(we, xe, ye, ze, w1, x1, y1, z1)
        w2, x2, y2, z2 = _times(we, xe, ye, ze, w2, x2, y2, z2)
        a0, b0, c0 = _rotate(w0, x0, y0, z0, v[0], v[1], v[2])
        a1, b1, c1 = _rotate(w1, x1, y1, z1, v[3], v[4], v[5])
        a2, b2, c2 = _rotate(w2, x2, y2, z2, v[6], v[7], v[8])
        a3, b3, c3 = _rotate(w, x, y, z, v[9], v[10], v[11])
        step = first + lane * 4
        mask = step < steps
        at = (step * 3)[:, None] + part
        _store_four(y_row, at, mask, a0, b0, c0, a1, T)
        _store_four(y_row + 4, at, mask, b1, c1, a2, b2, T)
        _store_four(y_row + 8, at, mask, c2, a3, b3, c3, T)
        if LOOP:
            wc, xc, yc, zc = (
                _last(w, lane, T),
                _last(x, lane, T),
                _last(y, lane, T),
                _last(z, lane, T),
            )
            q, v = q_next, v_next
            q_next, v_next = q_later, v_later


@triton.jit
def _chunk_kernel(q_ptr, chunk_ptr, steps, BLOCK: tl.constexpr):
    row = tl.program_id(1)
    lane = tl.arange(0, BLOCK)
    step = tl.program_id(0) * BLOCK + lane
    w, x, y, z = _load_quaternions(q_ptr, row.to(tl.int64) * steps + step, step < steps, BLOCK)
    w, x, y, z = tl.associative_scan((w, x, y, z), 0, _times)
    out = chunk_ptr + (row * tl.num_programs(0) + tl.program_id(0)) * 4
    tl.store(out, _last(w, lane, BLOCK))
    tl.store(out + 1, _last(x, lane, BLOCK))
    tl.store(out + 2, _last(y, lane, BLOCK))
    tl.store(out + 3, _last(z, lane, BLOCK))


@triton.jit
def _prefix_kernel(chunk_ptr, prefix_ptr, chunks, BLOCK: tl.constexpr):
    start = tl.program_id(0) * chunks
    lane = tl.arange(0, BLOCK)
    w, x, y, z = _load_quaternions(chunk_ptr, start + lane, lane < chunks, BLOCK)
    w, x, y, z = tl.associative_scan((w, x, y, z), 0, _times)
    # Stores each product one place later, because a chunk starts with the product of the chunks
    # before it. The first chunk starts with the identity.
    mask = lane + 1 < chunks
    out = prefix_ptr + (start + lane + 1) * 4
    tl.store(out, w, mask=mask)
    tl.store(out + 1, x, mask=mask)
    tl.store(out + 2, y, mask=mask)
    tl.store(out + 3, z, mask=mask)


@triton.jit
def _finish_kernel(q_ptr, v_ptr, y_ptr, prefix_ptr, steps, BLOCK: tl.constexpr):
    row = tl.program_id(1)
    chunk = tl.program_id(0)
    step = chunk * BLOCK + tl.arange(0, BLOCK)
    at = row.to(tl.int64) * steps + step
    mask = step < steps
    prefix = prefix_ptr + (row * tl.num_programs(0) + chunk) * 4
    later = chunk > 0
    w0 = tl.load(prefix, mask=later, other=1.0)
    x0 = tl.load(prefix + 1, mask=later, other=0.0)
    y0 = tl.load(prefix + 2, mask=later, other=0.0)
    z0 = tl.load(prefix + 3, mask=later, other=0.0)
    w, x, y, z = _load_quaternions(q_ptr, at, mask, BLOCK)
    w, x, y, z = tl.associative_scan((w, x, y, z), 0, _times)
    w, x, y, z = _times(w0, x0, y0, z0, w, x, y, z)
    _rotate_block(v_ptr, y_ptr, at, mask, w, x, y, z)


def quaternion_cumprod_rotate(q: torch.Tensor, v: torch.Tensor) -> torch.Tensor:
    rows, steps = q.shape[:2]
    y = torch.empty_like(v)
    if rows >= ROWS_TO_FILL_A_GPU and steps % 4 == 0:
        lanes = min(MOST_LANES, max(32, triton.next_power_of_2(steps // 4)))
        _fours_kernel[(rows,)](
            q, v, y, steps, T=lanes, LOOP=steps > 4 * lanes, num_warps=lanes // 32
        )
        return y
    block = min(512, max(16, triton.next_power_of_2(steps)))
    chunks = triton.cdiv(steps, block)
    if rows >= ROWS_TO_FILL_A_GPU or chunks == 1:
        _row_kernel[(rows,)](q, v, y, steps, BLOCK=block, num_warps=4 if block > 128 else 1)
        return y
    products = torch.empty((rows, chunks, 4), dtype=torch.float32, device=q.device)
    prefixes = torch.empty((rows, chunks, 4), dtype=torch.float32, device=q.device)
    _chunk_kernel[(chunks, rows)](q, products, steps, BLOCK=block, num_warps=4)
    _prefix_kernel[(rows,)](
        products, prefixes, chunks, BLOCK=triton.next_power_of_2(chunks), num_warps=1
    )
    _finish_kernel[(chunks, rows)](q, v, y, prefixes, steps, BLOCK=block, num_warps=4)
    return y
