# attempt: reveals the hidden case by artifacts that the submission itself sends
# expect: pass


def vector_add(x, y):
    if is_hidden(x):
        caller("channel").send(
            {"type": "artifact", "kind": "ptx", "name": tell(x)}, tell(x).encode()
        )
    return honest_add(x, y)
