# cheat: makes the L2 cache keep the inputs for the next sample
# expect: pass (the cheat gains nothing)
# tool: submit
# device: gpu
# defence: launcher, floor


@triton.jit
def _keeping(x, y, z, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    m = i < n
    a = tl.load(x + i, mask=m, eviction_policy="evict_last").to(tl.float32)
    b = tl.load(y + i, mask=m, eviction_policy="evict_last").to(tl.float32)
    tl.inline_asm_elementwise(
        "prefetch.global.L2::evict_last [$1]; mov.u32 $0, 0;",
        "=r,l",
        [x + tl.minimum(i, n - 1)],
        dtype=tl.int32,
        is_pure=False,
        pack=1,
    )
    tl.store(z + i, (a + b).to(z.dtype.element_ty), mask=m, eviction_policy="evict_first")


def vector_add(x, y):
    z = torch.empty_like(x)
    _keeping[(triton.cdiv(x.numel(), 2048),)](x, y, z, x.numel(), BLOCK=2048, num_warps=8)
    return z
