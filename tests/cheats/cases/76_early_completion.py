# cheat: lets a dependent launch start before the kernel is done, so that the timer stops early
# expect: pass (the cheat gains nothing)
# tool: submit
# device: gpu
# defence: launcher, recheck


@triton.jit
def _early(x, y, z, n, BLOCK: tl.constexpr):
    tl.extra.cuda.gdc_launch_dependents()
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    m = i < n
    tl.store(
        z + i,
        (tl.load(x + i, mask=m).to(tl.float32) + tl.load(y + i, mask=m).to(tl.float32)).to(
            z.dtype.element_ty
        ),
        mask=m,
    )


@triton.jit
def _nothing(z):
    tl.extra.cuda.gdc_wait()


def vector_add(x, y):
    z = torch.empty_like(x)
    _early[(triton.cdiv(x.numel(), 2048),)](
        x, y, z, x.numel(), BLOCK=2048, num_warps=8, launch_pdl=True
    )
    _nothing[(1,)](z, launch_pdl=True)
    return z
