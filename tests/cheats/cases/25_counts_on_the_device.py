# cheat: counts runs in device memory, to tell the checked run from the timed ones
# expect: pass (the cheat gains nothing)
# tool: submit
# device: gpu
# defence: recheck, launcher


@triton.jit
def _counting(x, y, z, counter, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    m = i < n
    runs = tl.load(counter, volatile=True)
    if runs == 0:
        tl.store(
            z + i,
            (tl.load(x + i, mask=m).to(tl.float32) + tl.load(y + i, mask=m).to(tl.float32)).to(
                z.dtype.element_ty
            ),
            mask=m,
        )


@triton.jit
def _count(counter):
    tl.store(counter, tl.load(counter) + 1)


COUNTER = {}


def vector_add(x, y):
    z = torch.empty_like(x)
    counter = torch.zeros(1, dtype=torch.int32, device=x.device)
    _counting[(triton.cdiv(x.numel(), 2048),)](x, y, z, counter, x.numel(), BLOCK=2048, num_warps=8)
    _count[(1,)](counter)
    return z
