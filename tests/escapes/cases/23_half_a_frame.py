# attempt: writes half a frame and ends
# expect: error:protocol_error
# needs: nothing
# defence: frames, supervisor

import gc

channel = next(item for item in gc.get_objects() if type(item).__name__ == "Channel")
frame = sys.modules["harness.wire.frames"].encode({"type": "done"}, b"")
os.write(channel.fileno(), frame[: len(frame) // 2])
os._exit(0)
