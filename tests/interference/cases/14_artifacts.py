# says: artifacts that a candidate sends by itself
# expect: pass


def vector_add(x, y):
    if is_hidden(x):
        caller("channel").send(
            {"type": "artifact", "kind": "ptx", "name": tell(x)}, tell(x).encode()
        )
    return honest_add(x, y)
