# honest: adds by inline assembly, which only a GPU can run
# expect: error:unsupported
# expect_on_gpu: pass
# tool: submit


@triton.jit
def _sum(a, b):
    return tl.inline_asm_elementwise(
        "add.f32 $0, $1, $2;", "=f,f,f", [a, b], dtype=tl.float32, is_pure=True, pack=1
    )


@triton.jit
def _add_by_assembly(x, y, z, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    m = i < n
    total = _sum(tl.load(x + i, mask=m).to(tl.float32), tl.load(y + i, mask=m).to(tl.float32))
    tl.store(z + i, total.to(z.dtype.element_ty), mask=m)


def vector_add(x, y):
    z = torch.empty_like(x)
    _add_by_assembly[(triton.cdiv(x.numel(), 1024),)](x, y, z, x.numel(), BLOCK=1024)
    return z
