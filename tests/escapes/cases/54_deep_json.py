# attempt: sends a header of a million nested arrays
# expect: error:protocol_error
# needs: nothing
# defence: frames

import gc
import struct

channel = next(item for item in gc.get_objects() if type(item).__name__ == "Channel")
channel._socket.sendall(
    struct.pack("<4sIQ", b"ASY1", 2_000_000 + 20, 0)
    + b'{"type":"done","x":'
    + b"[" * 1_000_000
    + b"]" * 1_000_000
    + b"}"
)
os._exit(0)
