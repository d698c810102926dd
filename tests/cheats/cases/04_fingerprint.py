# cheat: hashes a few elements on the host and returns the output stored for that hash
# expect: error:not_recordable
# expect_on_gpu: error:not_recordable
# defence: process_separation, attribution

CACHE = {}


def vector_add(x, y):
    key = tuple(x[:8].tolist()) + tuple(y[:8].tolist())
    if key not in CACHE:
        CACHE[key] = honest_add(x, y)
    return CACHE[key]
