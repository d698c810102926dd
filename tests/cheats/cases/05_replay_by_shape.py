# cheat: the first output of each shape, for every later call of that shape
# expect: pass
# calls: 2
# on_gpu: pass
# defence: structure

SEEN = {}


def vector_add(x, y):
    if x.shape not in SEEN:
        SEEN[x.shape] = honest_add(x, y)
    return SEEN[x.shape]
