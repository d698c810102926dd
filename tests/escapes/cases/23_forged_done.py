# attempt: reports that all cases are done, without running them
# expect: error:protocol_error
# needs: nothing
# defence: frames, judge
# in_run_test: yes

import gc

channel = next(item for item in gc.get_objects() if type(item).__name__ == "Channel")
channel.send({"type": "imported"})
channel.send({"type": "done"})
os._exit(0)
