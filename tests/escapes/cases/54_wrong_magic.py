# attempt: sends bytes that are not a frame
# expect: error:protocol_error
# needs: nothing
# defence: frames

import gc

channel = next(item for item in gc.get_objects() if type(item).__name__ == "Channel")
channel._socket.sendall(b"HTTP/1.1 200 OK\r\n\r\n" * 4)
os._exit(0)
