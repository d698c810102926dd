# attempt: sends the supervisor descriptors with its frames
# expect: error:protocol_error
# needs: nothing
# defence: frames

import gc

channel = next(item for item in gc.get_objects() if type(item).__name__ == "Channel")
channel.send({"type": "imported"}, b"", [os.open("/dev/null", os.O_RDONLY) for _ in range(60)])
os._exit(0)
