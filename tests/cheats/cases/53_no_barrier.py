# cheat: has programs that read results of other programs of the launch, without waiting for them
# expect: fail:wrong_result
# expect_on_gpu: fail:wrong_result
# defence: judge, launcher


@triton.jit
def _racing(x, y, z, shared, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(
        shared + i,
        tl.load(x + i, mask=i < n).to(tl.float32) + tl.load(y + i, mask=i < n).to(tl.float32),
        mask=i < n,
    )
    j = n - 1 - i
    tl.store(
        z + j, tl.load(shared + j, mask=j >= 0, volatile=True).to(z.dtype.element_ty), mask=j >= 0
    )


def vector_add(x, y):
    z = torch.empty_like(x)
    shared = torch.empty(x.numel(), dtype=torch.float32, device=x.device)
    _racing[(triton.cdiv(x.numel(), 256),)](x, y, z, shared, x.numel(), BLOCK=256)
    return z
