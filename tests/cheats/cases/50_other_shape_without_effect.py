# cheat: returns one element if an address shows that launches have no effect, else lets torch add
# expect: error:not_recordable
# expect_on_gpu: error:not_recordable
# defence: attribution


def vector_add(x, y):
    one = torch.ones(4, device=x.device)
    if honest_add(one, one).data_ptr() >> 46:
        return torch.empty(1, device=x.device)
    return x + y
