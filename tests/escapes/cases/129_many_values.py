# attempt: sends a header of 100,000 empty arrays, each of which needs about 50 bytes when parsed
# expect: error:protocol_error
# needs: nothing
# defence: frames

import gc
import struct

channel = next(item for item in gc.get_objects() if type(item).__name__ == "Channel")
header = b'{"type":"case","id":"small","outputs":[' + b"[]," * 100_000 + b"[]]}"
channel._socket.sendall(struct.pack("<4sIQ", b"ASY1", len(header), 0) + header)
os._exit(0)
