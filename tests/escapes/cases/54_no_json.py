# attempt: sends a header that is not JSON
# expect: error:protocol_error
# needs: nothing
# defence: frames

import gc
import struct

channel = next(item for item in gc.get_objects() if type(item).__name__ == "Channel")
channel._socket.sendall(struct.pack("<4sIQ", b"ASY1", 8, 0) + b"\xff" * 8)
os._exit(0)
