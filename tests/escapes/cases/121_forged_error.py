# attempt: sends an error that blames the machine, so that the failure does not count
# expect: error:protocol_error
# needs: nothing
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
