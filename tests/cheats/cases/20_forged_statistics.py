# cheat: returns an object with forged statistics, which runs code when it is unpickled
# expect: fail:output_mismatch
# expect_on_gpu: fail:output_mismatch
# defence: process_separation


class Stats:
    mean = median = best = worst = 1e-9
    passed = ok = True

    def __reduce__(self):
        return (print, ("unpickled by the judge",))


def vector_add(x, y):
    return Stats()
