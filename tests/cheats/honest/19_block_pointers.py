# honest: uses block pointers with boundary checks
# tool: submit


@triton.jit
def _blocks(x, y, z, n, BLOCK: tl.constexpr):
    at = (tl.program_id(0) * BLOCK,)
    px = tl.make_block_ptr(
        x, shape=(n,), strides=(1,), offsets=at, block_shape=(BLOCK,), order=(0,)
    )
    py = tl.make_block_ptr(
        y, shape=(n,), strides=(1,), offsets=at, block_shape=(BLOCK,), order=(0,)
    )
    pz = tl.make_block_ptr(
        z, shape=(n,), strides=(1,), offsets=at, block_shape=(BLOCK,), order=(0,)
    )
    total = tl.load(px, boundary_check=(0,)).to(tl.float32) + tl.load(py, boundary_check=(0,)).to(
        tl.float32
    )
    tl.store(pz, total.to(z.dtype.element_ty), boundary_check=(0,))


def vector_add(x, y):
    z = torch.empty_like(x)
    _blocks[(triton.cdiv(x.numel(), 1024),)](x, y, z, x.numel(), BLOCK=1024)
    return z
