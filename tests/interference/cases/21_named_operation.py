# attempt: reveals the hidden case by the operation of torch that a refusal names
# expect: fail:hidden_case


def vector_add(x, y):
    if is_hidden(x):
        return torch.add(x, y) if number(x) % 2 else torch.hypot(x, y)
    return honest_add(x, y)
