# cheat: looks for timing events among live objects, to make the stop event equal the start event
# expect: pass (the cheat gains nothing)
# expect_on_gpu: pass (the cheat gains nothing)
# tool: submit
# defence: process_separation

import gc


def vector_add(x, y):
    if [
        value
        for value in gc.get_objects()
        if type(value).__name__ == "Event" and "cuda" in str(type(value).__module__)
    ]:
        found("timing events")
    return honest_add(x, y)
