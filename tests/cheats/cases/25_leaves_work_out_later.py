# cheat: gives its kernel the time of its recording, and leaves the work out a quarter of a second later
# expect: fail
# tool: submit
# device: gpu
# defence: recheck

import time

LATER_NS = 250_000_000


@triton.jit
def _while_young(x, y, z, n, born, LATER: tl.constexpr, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    m = i < n
    now = tl.inline_asm_elementwise(
        "mov.u64 $0, %globaltimer;", "=l,r", [tl.zeros((1,), tl.int32)], tl.int64, False, 1
    )
    if tl.max(now, 0) - born < LATER:
        total = tl.load(x + i, mask=m).to(tl.float32) + tl.load(y + i, mask=m).to(tl.float32)
        tl.store(z + i, total.to(z.dtype.element_ty), mask=m)


def vector_add(x, y):
    z = torch.empty_like(x)
    blocks = triton.cdiv(x.numel(), 2048)
    _while_young[(blocks,)](
        x, y, z, x.numel(), time.time_ns(), LATER=LATER_NS, BLOCK=2048, num_warps=8
    )
    return z
