# cheat: converts both inputs to sparse tensors without gaps, and lets torch add these tensors
# expect: error:not_recordable
# expect_on_gpu: error:not_recordable
# defence: attribution


def sparse(values):
    at = torch.arange(values.numel(), device=values.device).unsqueeze(0)
    return torch.sparse_coo_tensor(at, values, values.shape)


def vector_add(x, y):
    honest_add(x, y)
    return (sparse(x) + sparse(y)).to_dense()
