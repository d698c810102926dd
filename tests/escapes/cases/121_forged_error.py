# attempt: claims an error of the machine, to be excused
# expect: error:protocol_error
# tier: C
# defence: frames

import gc

channel = next(item for item in gc.get_objects() if type(item).__name__ == "Channel")
channel.send({"type": "imported"})
excuse = {
    "type": "error",
    "stage": "launch",
    "exception": "",
    "message": "the GPU fell off",
    "line": None,
    "code": "",
    "traceback": "",
}
channel.send({**excuse, "kind": "gpu_fault", "case": None})
os._exit(0)
