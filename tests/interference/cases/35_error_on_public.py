# attempt: causes an error in a public case, which the client sees in full
# expect: error:value_error


def vector_add(x, y):
    print("a public case of", x.numel())
    raise ValueError(f"a public case of {x.numel()}")
