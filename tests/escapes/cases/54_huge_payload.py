# attempt: sends a frame that announces 10 GiB
# expect: error:protocol_error
# needs: nothing
# defence: frames

import gc
import struct

channel = next(item for item in gc.get_objects() if type(item).__name__ == "Channel")
channel._socket.sendall(struct.pack("<4sIQ", b"ASY1", 16, 10 << 30) + b"{}")
os._exit(0)
