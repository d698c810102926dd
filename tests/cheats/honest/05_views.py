# honest: works on reshaped, sliced and unsqueezed views, and returns a view
# tool: submit


def vector_add(x, y):
    n = x.numel()
    z = torch.empty((1, n + 8), dtype=x.dtype, device=x.device)
    half = n // 2
    out = z[0, :n]
    honest_add(x[:half], y[:half], out.narrow(0, 0, half))
    honest_add(x.unsqueeze(0)[0, half:], y.view(1, -1).squeeze(0)[half:], out[half:])
    return z.flatten()[:n].contiguous()
