# attempt: the reference of an imported suite answers for its judge: inputs in memory that shrinks, then frames with 64 descriptors
# expect: error:reference_error
# needs: nothing
# defence: supervisor

import gc
import os
import sys


def _channel():
    return next(one for one in gc.get_objects() if type(one).__name__ == "Channel")


def _request():
    frame = sys._getframe()
    while frame is not None:
        found = frame.f_locals.get("frame")
        if type(found).__name__ == "Frame":
            return found.header
        frame = frame.f_back
    return {}


def _forge():
    header = _request()
    memory = os.memfd_create("inputs", 0)
    os.ftruncate(memory, 1 << 20)
    tensor = {
        "kind": "tensor",
        "dtype": "float32",
        "shape": [1 << 18],
        "strides": [1],
        "offset": 0,
        "nbytes": 1 << 20,
        "fd": 0,
    }
    cases = [
        {
            "id": one["id"],
            "seed": "0x1",
            "fixed": False,
            "arguments": [{"name": name, **tensor} for name in ("x", "y")],
            "structural": ["x", "y"],
            "inout": [],
            "outputs": [{"name": "out", "dtype": "float32", "shape": [1 << 18], "nbytes": 1 << 60}],
            "output_bytes": 1 << 60,
            "cost": {"bytes": "nan", "flops": "inf"},
            "layout": False,
        }
        for one in header["cases"]
    ]
    kind = "described" if header["type"] == "describe" else "prepared"
    _channel().send({"type": kind, "job": header["job"], "cases": cases}, fds=[memory])
    os.ftruncate(memory, 0)  # a process that has mapped the inputs now ends by SIGBUS
    try:
        for _ in range(2_000):
            _channel().send({"type": "compared", "job": "another"}, fds=[memory] * 64)
    finally:
        os._exit(0)


_forge()
