# attempt: sends numbers that JSON lacks, and numbers out of range
# expect: error:protocol_error
# needs: nothing
# defence: frames

import gc
import struct

HEADER = b'{"type":"case","id":"small","outputs":[{"name":"o","dtype":"float32","shape":[1e308,-1],"nbytes":NaN}]}'
channel = next(item for item in gc.get_objects() if type(item).__name__ == "Channel")
channel._socket.sendall(struct.pack("<4sIQ", b"ASY1", len(HEADER), 0) + HEADER)
os._exit(0)
