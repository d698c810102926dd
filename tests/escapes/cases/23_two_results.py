# attempt: reports the end of its import twice
# expect: error:protocol_error
# needs: nothing
# defence: frames

import gc

channel = next(item for item in gc.get_objects() if type(item).__name__ == "Channel")
channel.send({"type": "imported"})
channel.send({"type": "imported"})
