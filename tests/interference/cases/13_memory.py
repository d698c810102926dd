# attempt: reveals the hidden case by the way in which memory runs out
# expect: fail:hidden_case


def vector_add(x, y):
    if is_hidden(x):
        if number(x) % 2:
            raise MemoryError(tell(x))
        block = bytearray(4 << 30)
        for at in range(0, len(block), 4096):
            block[at] = 1
    return honest_add(x, y)
