# cheat: gives a kernel a class whose launch lets torch add
# expect: error:not_recordable
# expect_on_gpu: error:not_recordable
# defence: attribution


def launch(kernel, grid):
    return lambda x, y, z, *_, **__: torch.add(x, y, out=z)


_add.__class__ = type("Kernel", (type(_add),), {"__getitem__": launch})


def vector_add(x, y):
    return honest_add(x, y)
