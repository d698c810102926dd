# cheat: skips the work when scratch memory still holds the mark of an earlier run
# expect: pass (the cheat gains nothing)
# tool: submit
# device: gpu
# defence: launcher


@triton.jit
def _once(x, y, z, mark, n, BLOCK: tl.constexpr):
    program = tl.program_id(0)
    i = program * BLOCK + tl.arange(0, BLOCK)
    m = i < n
    if tl.load(mark + program, volatile=True) != 12345:
        tl.store(
            z + i,
            (tl.load(x + i, mask=m).to(tl.float32) + tl.load(y + i, mask=m).to(tl.float32)).to(
                z.dtype.element_ty
            ),
            mask=m,
        )
    tl.store(mark + program, 12345)


def vector_add(x, y):
    z = torch.empty_like(x)
    programs = triton.cdiv(x.numel(), 2048)
    mark = torch.empty(programs, dtype=torch.int32, device=x.device)
    _once[(programs,)](x, y, z, mark, x.numel(), BLOCK=2048, num_warps=8)
    return z
