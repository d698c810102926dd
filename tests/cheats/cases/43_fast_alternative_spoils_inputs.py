# cheat: has an autotuner whose fast configuration also writes the sums into an input
# expect: fail:output_mismatch
# tool: submit
# device: gpu
# defence: launcher


@triton.jit
def _add_and_spoil(x, y, z, n, SPOILS: tl.constexpr, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = at < n
    a = tl.load(x + at, mask=inside).to(tl.float32)
    b = tl.load(y + at, mask=inside).to(tl.float32)
    if not SPOILS:
        for _ in range(50):  # slower than the other configuration
            b = tl.load(y + at, mask=inside, volatile=True).to(tl.float32)
    tl.store(z + at, (a + b).to(z.dtype.element_ty), mask=inside)
    if SPOILS:
        tl.store(x + at, (a + b).to(x.dtype.element_ty), mask=inside)


CAREFUL = triton.Config({"SPOILS": False, "BLOCK": 128}, num_warps=1)
FAST = triton.Config({"SPOILS": True, "BLOCK": 2048}, num_warps=8)
tuned = triton.autotune([CAREFUL, FAST], key=["n"])(_add_and_spoil)


def vector_add(x, y):
    z = torch.empty_like(x)
    n = x.numel()
    tuned[lambda m: (triton.cdiv(n, m["BLOCK"]),)](x, y, z, n)
    return z
