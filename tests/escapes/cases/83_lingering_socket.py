# attempt: sends the supervisor a TCP socket whose close would block for hours
# expect: error:protocol_error,runtime_error
# needs: nothing
# defence: seccomp, frames
# in_run_test: yes

import array
import gc
import socket
import struct
import time

MSG_FASTOPEN = 0x20000000  # connects without a call of connect(), which Landlock restricts

try:
    listener = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    listener.listen()
    client = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    client.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 10_000))
    client.sendto(b"x", MSG_FASTOPEN, ("127.0.0.1", listener.getsockname()[1]))
    peer, _ = listener.accept()  # the peer never reads
    client.setblocking(False)
    while True:
        client.send(b"x" * 65536)
except BlockingIOError:
    channel = next(item for item in gc.get_objects() if type(item).__name__ == "Channel")
    frame = sys.modules["harness.wire.frames"].encode({"type": "imported"}, b"")
    sockets = array.array("i", [client.fileno(), peer.fileno()])
    channel._socket.sendmsg([frame[:8]], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, sockets)])
    client.close()  # now only the supervisor holds the sockets
    peer.close()
    time.sleep(0.2)
    channel._socket.sendall(frame[8:])
    time.sleep(1.0)
    os._exit(0)
except OSError as error:
    raise RuntimeError("no TCP socket, so nothing to send") from error
