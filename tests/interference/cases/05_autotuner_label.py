# attempt: reveals the hidden case by the label of an autotuner's configuration
# expect: pass


def vector_add(x, y):
    class Labelled(triton.Config):
        def __str__(self):
            return tell(x)

    z = torch.empty_like(x)
    tuned = triton.autotune([Labelled({"BLOCK": 1024}), Labelled({"BLOCK": 512})], key=[])(
        add_kernel
    )
    tuned[lambda meta: (triton.cdiv(x.numel(), meta["BLOCK"]),)](x, y, z, x.numel())
    return z
