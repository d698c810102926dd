# attempt: sends artifacts without content, whose names are 3 MiB long
# expect: error:protocol_error,output_limit
# needs: nothing
# defence: frames

import gc

channel = next(item for item in gc.get_objects() if type(item).__name__ == "Channel")
channel.send({"type": "imported"})
for number in range(200):
    channel.send({"type": "artifact", "kind": "ptx", "name": f"{number}" + "x" * (3 << 20)})
while True:
    pass
