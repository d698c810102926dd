# attempt: sends artifacts without end
# expect: error:output_limit,protocol_error
# needs: nothing
# defence: frames

import gc

channel = next(item for item in gc.get_objects() if type(item).__name__ == "Channel")
channel.send({"type": "imported"})
while True:
    channel.send({"type": "artifact", "kind": "ptx", "name": "x" * 1000}, b"y" * (8 << 20))
