# honest: names devices and streams, as wrappers of kernels do
# tool: submit


def vector_add(x, y):
    assert x.is_cuda and x.device.type == "cuda" and x.is_contiguous()
    capability = torch.cuda.get_device_capability(x.device)
    with torch.cuda.device(x.device), torch.cuda.stream(torch.cuda.current_stream()):
        z = torch.empty(x.size(), dtype=x.dtype, device="cuda")
        _add[(triton.cdiv(x.numel(), 512), 1)](
            x, y, z, x.numel(), BLOCK=512, num_warps=8 if capability[0] >= 9 else 4, num_stages=2
        )
    torch.cuda.synchronize()
    return z.to(x.device)
