# attempt: sends a payload byte by byte from two processes, to delay the reader beyond its limit
# expect: error:timeout
# needs: nothing
# defence: supervisor, frames

import gc
import struct

channel = next(item for item in gc.get_objects() if type(item).__name__ == "Channel")
channel.send({"type": "imported"})
header = b'{"type":"artifact","kind":"ptx","name":"drip"}'
channel._socket.sendall(struct.pack("<4sIQ", b"ASY1", len(header), 64 << 20) + header)

# One call sends 1,024 messages of one byte. The reader takes them one by one, so it is slower.
SENDMMSG, MESSAGES = 307, 1_024
byte = ctypes.create_string_buffer(b"x")
piece = (ctypes.c_size_t * 2)(ctypes.addressof(byte), 1)
messages = (ctypes.c_uint64 * (8 * MESSAGES))()
for number in range(MESSAGES):
    messages[8 * number + 2], messages[8 * number + 3] = ctypes.addressof(piece), 1
MSG_DONTWAIT = 0x40  # does not wait if the socket is full
os.fork()
while True:
    _libc.syscall(ctypes.c_long(SENDMMSG), channel.fileno(), messages, MESSAGES, MSG_DONTWAIT)
