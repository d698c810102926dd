# cheat: returns the first output of each shape for every later call of that shape
# expect: pass (the cheat gains nothing)
# calls: 2
# expect_on_gpu: pass (the cheat gains nothing)
# defence: process_separation

SEEN = {}


def vector_add(x, y):
    if x.shape not in SEEN:
        SEEN[x.shape] = honest_add(x, y)
    return SEEN[x.shape]
