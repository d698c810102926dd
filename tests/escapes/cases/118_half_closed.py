# attempt: closes one direction of its channel and continues to run
# expect: error:protocol_error
# needs: nothing
# defence: supervisor, frames

import gc
import socket

channel = next(item for item in gc.get_objects() if type(item).__name__ == "Channel")
channel.send({"type": "imported"})
channel._socket.shutdown(socket.SHUT_WR)
while True:
    pass
