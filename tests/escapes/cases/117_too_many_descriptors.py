# attempt: sends too many descriptors with a frame, and more within the bytes of the next frame
# expect: error:protocol_error
# needs: nothing
# defence: frames

import array
import gc
import socket

channel = next(item for item in gc.get_objects() if type(item).__name__ == "Channel")
frame = sys.modules["harness.wire.frames"].encode({"type": "imported"}, b"")
many = array.array("i", [os.open("/dev/null", os.O_RDONLY)] * 253)
channel._socket.sendmsg([frame], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, many)])
for byte in frame:
    channel._socket.sendmsg([bytes([byte])], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, many)])
os._exit(0)
