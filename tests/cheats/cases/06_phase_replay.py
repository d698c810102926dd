# cheat: returns the first output in later calls, in the hope that their inputs have the same seed
# expect: fail:output_mismatch
# expect_on_gpu: error:not_recordable
# tool: submit
# defence: judge

OUTPUT = []


def vector_add(x, y):
    if not OUTPUT:
        OUTPUT.append(honest_add(x, y))
    return OUTPUT[0]
