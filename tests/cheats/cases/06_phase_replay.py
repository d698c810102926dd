# cheat: takes the first call for a check and everything after it for timing with the same seed
# expect: error:not_recordable
# tool: submit
# defence: judge

OUTPUT = []


def vector_add(x, y):
    if not OUTPUT:
        OUTPUT.append(honest_add(x, y))
    return OUTPUT[0]
