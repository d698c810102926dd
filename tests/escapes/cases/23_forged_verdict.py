# attempt: sends a verdict instead of results
# expect: error:protocol_error
# needs: nothing
# defence: frames, judge

import gc

channel = next(item for item in gc.get_objects() if type(item).__name__ == "Channel")
channel.send({"type": "verdict", "outcome": "pass", "error_kind": "none"})
os._exit(0)
