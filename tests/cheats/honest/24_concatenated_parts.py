# honest: computes two halves by two kernels, and lets torch concatenate them
# tool: submit


def vector_add(x, y):
    half = x.numel() // 2
    return torch.cat(
        [honest_add(x[:half].contiguous(), y[:half].contiguous()), honest_add(x[half:], y[half:])]
    )
