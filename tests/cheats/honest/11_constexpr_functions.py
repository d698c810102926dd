# honest: has a grid that depends on the kernel's constants, and a function as a constant
# operator: gelu_tanh
# tool: submit

COEFFICIENTS = (0.7978845608028654, 0.044715)


@triton.jit
def _tanh(u):
    return 1.0 - 2.0 / (1.0 + tl.exp(2.0 * u))


@triton.jit
def _apply(x, y, n, A: tl.constexpr, B: tl.constexpr, FUNCTION: tl.constexpr, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    v = tl.load(x + i, mask=i < n, other=0.0).to(tl.float32)
    tl.store(y + i, 0.5 * v * (1.0 + FUNCTION(A * (v + B * v * v * v))), mask=i < n)


def gelu_tanh(x):
    y = torch.empty(x.shape, dtype=torch.float32, device=x.device)

    def grid(meta):
        return (triton.cdiv(x.numel(), meta["BLOCK"]), 1, 1)

    _apply[grid](
        x,
        y,
        x.numel(),
        *COEFFICIENTS,
        FUNCTION=_tanh,
        BLOCK=triton.next_power_of_2(min(1000, x.numel())),
    )
    return y
