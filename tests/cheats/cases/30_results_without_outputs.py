# cheat: sends a result without outputs for each case, on the channel that a caller's frame holds
# expect: fail:output_mismatch
# expect_on_gpu: error:invalid_plan
# defence: process_separation, judge

import os
import sys


def callers(name):
    frame = sys._getframe()
    while name not in frame.f_locals:
        frame = frame.f_back
    return frame.f_locals[name]


def vector_add(x, y):
    channel = callers("channel")
    for case in callers("batch").cases:
        empty = {"outputs": [], "notes": [], "reordered": False}
        channel.send({"type": "case", "id": case.id, **empty})
    channel.send({"type": "done"})
    os._exit(0)
