# honest: updates its inout arguments by three kernels
# operator: adamw_step
# tool: submit


@triton.jit
def _moment(g, m, n, beta, SQUARE: tl.constexpr, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    v = tl.load(g + i, mask=i < n)
    if SQUARE:
        v = v * v
    tl.store(m + i, beta * tl.load(m + i, mask=i < n) + (1.0 - beta) * v, mask=i < n)


@triton.jit
def _update(p, m, v, n, keep, step, correction, eps, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    k = i < n
    old = tl.load(p + i, mask=k)
    new = old * keep - step * tl.load(m + i, mask=k) / (
        tl.sqrt(tl.load(v + i, mask=k) * correction) + eps
    )
    tl.store(p + i, new, mask=k)


def adamw_step(p, g, m, v, lr, beta1, beta2, eps, weight_decay, step):
    n, grid = p.numel(), (triton.cdiv(p.numel(), 1024),)
    _moment[grid](g, m, n, beta1, SQUARE=False, BLOCK=1024)
    _moment[grid](g, v, n, beta2, SQUARE=True, BLOCK=1024)
    _update[grid](
        p,
        m,
        v,
        n,
        1 - lr * weight_decay,
        lr / (1 - beta1**step),
        1 / (1 - beta2**step),
        eps,
        BLOCK=1024,
    )
