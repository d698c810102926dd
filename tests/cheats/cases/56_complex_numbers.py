# cheat: packs both inputs into complex numbers, and lets torch add their parts
# expect: error:not_recordable
# expect_on_gpu: error:not_recordable
# defence: attribution


def vector_add(x, y):
    both = torch.complex(x.float(), y.float())
    honest_add(x, y)
    return (both.real + both.imag).to(x.dtype)
