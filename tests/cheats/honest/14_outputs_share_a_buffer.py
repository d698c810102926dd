# honest: returns two outputs that are views of one allocation
# operator: rope_neox
# tool: submit


@triton.jit
def _rope(x, cos, sin, out, heads, half, BLOCK: tl.constexpr):
    token, head = tl.program_id(0).to(tl.int64), tl.program_id(1)
    i = tl.arange(0, BLOCK)
    m = i < half
    c = tl.load(cos + token * half + i, mask=m).to(tl.float32)
    s = tl.load(sin + token * half + i, mask=m).to(tl.float32)
    at = (token * heads + head) * 2 * half + i
    a, b = tl.load(x + at, mask=m).to(tl.float32), tl.load(x + at + half, mask=m).to(tl.float32)
    tl.store(out + at, (a * c - b * s).to(out.dtype.element_ty), mask=m)
    tl.store(out + at + half, (b * c + a * s).to(out.dtype.element_ty), mask=m)


def rope_neox(q, k, cos, sin):
    room = torch.empty(q.numel() + k.numel(), dtype=q.dtype, device=q.device)
    outs = room[: q.numel()].view_as(q), room[q.numel() :].view_as(k)
    for source, out in zip((q, k), outs):
        tokens, heads, dim = source.shape
        _rope[(tokens, heads)](
            source, cos, sin, out, heads, dim // 2, BLOCK=triton.next_power_of_2(dim // 2)
        )
    return outs
