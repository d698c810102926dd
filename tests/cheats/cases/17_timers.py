# cheat: replaces Python's clocks, and torch's events and synchronisation
# expect: pass (the cheat gains nothing)
# expect_on_gpu: pass (the cheat gains nothing)
# tool: submit
# defence: process_separation, launcher

import time

time.perf_counter = time.time = time.monotonic = lambda: 0.0
time.perf_counter_ns = time.time_ns = time.monotonic_ns = lambda: 0
torch.cuda.synchronize = lambda *a, **k: None


class Event:
    def __init__(self, *a, **k): ...

    def record(self, *a, **k): ...

    def synchronize(self): ...

    def elapsed_time(self, other):
        return 1e-9


torch.cuda.Event = Event


def vector_add(x, y):
    return honest_add(x, y)
