# honest: launches as many persistent programs as there are multiprocessors
# tool: submit


@triton.jit
def _stride(x, y, z, n, BLOCK: tl.constexpr):
    for block in range(tl.program_id(0), tl.cdiv(n, BLOCK), tl.num_programs(0)):
        i = block * BLOCK + tl.arange(0, BLOCK)
        m = i < n
        tl.store(
            z + i,
            (tl.load(x + i, mask=m).to(tl.float32) + tl.load(y + i, mask=m).to(tl.float32)).to(
                z.dtype.element_ty
            ),
            mask=m,
        )


def vector_add(x, y):
    z = torch.empty_like(x)
    programs = torch.cuda.get_device_properties(x.device).multi_processor_count
    _stride[(min(programs, triton.cdiv(x.numel(), 256)),)](x, y, z, x.numel(), BLOCK=256)
    return z
