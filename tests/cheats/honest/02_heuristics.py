# honest: uses heuristics that look at sizes and alignment
# tool: submit


@triton.heuristics(
    {
        "EVEN": lambda a: a["n"] % a["BLOCK"] == 0,
        "ALIGNED": lambda a: a["x"].data_ptr() % 16 == 0,
        "num_warps": lambda a: 8 if a["BLOCK"] > 1024 else 4,
    }
)
@triton.jit
def _even(x, y, z, n, BLOCK: tl.constexpr, EVEN: tl.constexpr, ALIGNED: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    if EVEN:
        total = tl.load(x + i).to(tl.float32) + tl.load(y + i).to(tl.float32)
        tl.store(z + i, total.to(z.dtype.element_ty))
    else:
        total = tl.load(x + i, mask=i < n).to(tl.float32) + tl.load(y + i, mask=i < n).to(
            tl.float32
        )
        tl.store(z + i, total.to(z.dtype.element_ty), mask=i < n)


def vector_add(x, y):
    z = torch.empty_like(x)
    _even[(triton.cdiv(x.numel(), 512),)](x, y, z, x.numel(), BLOCK=512)
    return z
