# cheat: launches a kernel that stays resident and polls a mailbox, to serve later calls at once
# expect: error:timeout
# device: gpu
# defence: launcher


@triton.jit
def _serve(mailbox, x, y, z, n, BLOCK: tl.constexpr):
    while tl.load(mailbox, volatile=True) != 1:
        for first in range(0, n, BLOCK):
            i = first + tl.arange(0, BLOCK)
            m = i < n
            a = tl.load(x + i, mask=m, volatile=True).to(tl.float32)
            b = tl.load(y + i, mask=m, volatile=True).to(tl.float32)
            tl.store(z + i, (a + b).to(z.dtype.element_ty), mask=m)


def vector_add(x, y):
    z = torch.empty_like(x)
    mailbox = torch.zeros(1, dtype=torch.int32, device=x.device)
    _serve[(1,)](mailbox, x, y, z, x.numel(), BLOCK=1024)
    return z
