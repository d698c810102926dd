# attempt: a header that is small as text, of a hundred thousand empty arrays that take some fifty bytes each once they are parsed
# expect: error:protocol_error
# tier: C
# defence: frames

import gc
import struct

channel = next(item for item in gc.get_objects() if type(item).__name__ == "Channel")
header = b'{"type":"case","id":"small","outputs":[' + b"[]," * 100_000 + b"[]]}"
channel._socket.sendall(struct.pack("<4sIQ", b"ASY1", len(header), 0) + header)
os._exit(0)
