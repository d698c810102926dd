# attempt: declares an output of more elements than 64 bits can count, all at the same address
# expect: fail:output_mismatch
# needs: nothing
# defence: frames, judge

import gc

channel = next(item for item in gc.get_objects() if type(item).__name__ == "Channel")
channel.send({"type": "imported"})
for case in channel.receive().header["cases"]:
    shape, strides = [2**39] * 8, [0] * 8
    output = {
        "name": "z",
        "kind": "tensor",
        "dtype": "float32",
        "shape": shape,
        "strides": strides,
        "offset": 0,
        "nbytes": 4,
    }
    channel.send(
        {"type": "case", "id": case["id"], "outputs": [output], "notes": [], "reordered": False}
    )
channel.send({"type": "done"})
os._exit(0)
