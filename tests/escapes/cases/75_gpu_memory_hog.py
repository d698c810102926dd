# attempt: allocates 40 GiB of GPU memory, more than a job may have
# expect: error:gpu_memory_limit,memory_limit,invalid_plan,runtime_error,not_recordable
# needs: gpu
# defence: launcher


@triton.jit
def _fill(p, BLOCK: tl.constexpr):
    tl.store(p + tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK), 1.0)


def vector_add(x, y):
    hog = torch.empty(40 << 28, device=x.device, dtype=torch.float32)  # 40 GiB
    _fill[(1024,)](hog, BLOCK=512)
    z = torch.empty_like(x)
    _add[(triton.cdiv(x.numel(), 512),)](x, y, z, x.numel(), BLOCK=512)
    return z
