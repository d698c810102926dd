# attempt: reveals the hidden case by forged frames, whose order depends on the case
# expect: fail:hidden_case


def vector_add(x, y):
    if is_hidden(x):
        kinds = ["parked", "parsed", "imported", "case", "done", tell(x)]
        kind = kinds[number(x) % len(kinds)]
        caller("channel").send({"type": kind, "id": tell(x), "layers": [], "notes": [tell(x)]})
    return honest_add(x, y)
