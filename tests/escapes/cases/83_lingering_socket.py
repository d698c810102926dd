# attempt: sends the supervisor a TCP socket whose close takes for ever
# expect: error:protocol_error,runtime_error,other_exception
# tier: C
# defence: seccomp, landlock, frames
# short: yes

import gc
import socket
import struct

MSG_FASTOPEN = 0x20000000  # connects without connect(), which Landlock watches
EXPECTED = RuntimeError("no TCP socket, so nothing to send")

try:
    listener = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    listener.listen()
    client = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    client.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 10_000))
    client.sendto(b"x", MSG_FASTOPEN, ("127.0.0.1", listener.getsockname()[1]))
    client.setblocking(False)
    while True:
        client.send(b"x" * 65536)
except BlockingIOError:
    channel = next(item for item in gc.get_objects() if type(item).__name__ == "Channel")
    channel.send({"type": "imported"}, b"", [client.fileno()])
    os._exit(0)
except OSError as error:
    raise EXPECTED from error
