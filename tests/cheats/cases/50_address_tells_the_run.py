# cheat: lets torch do the work, unless an address shows that this is the ablated run
# expect: error:not_recordable
# expect_on_gpu: error:not_recordable
# defence: attribution


def vector_add(x, y):
    if x.data_ptr() >> 47:
        return torch.empty_like(x)
    return x + y
