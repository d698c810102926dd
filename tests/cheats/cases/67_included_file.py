# cheat: has the assembler include a file into the binary
# expect: error:compilation_error
# expect_on_gpu: error:compilation_error
# tool: compile
# defence: jail


@triton.jit
def _include(x, y, z, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    v = tl.inline_asm_elementwise(
        '.incbin "/etc/passwd"; mov.b32 $0, 0;', "=r,r", [i], dtype=tl.int32, is_pure=False, pack=1
    )
    tl.store(z + i, v.to(z.dtype.element_ty), mask=i < n)


def vector_add(x, y):
    z = torch.empty_like(x)
    _include[(triton.cdiv(x.numel(), 1024),)](x, y, z, x.numel(), BLOCK=1024)
    return z
