# cheat: returns the first call's output in later calls, in the hope that those are timed with the same seed
# expect: error:not_recordable
# tool: submit
# defence: judge

OUTPUT = []


def vector_add(x, y):
    if not OUTPUT:
        OUTPUT.append(honest_add(x, y))
    return OUTPUT[0]
