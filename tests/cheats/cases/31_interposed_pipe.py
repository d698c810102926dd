# cheat: replaces every descriptor by its own socket, to intercept what the harness sends
# expect: error:protocol_error
# expect_on_gpu: error:protocol_error
# defence: process_separation

import os
import socket


def vector_add(x, y):
    inner, _ = pair = socket.socketpair()
    for number in range(3, 64):
        if number not in (inner.fileno(), pair[1].fileno()):
            try:
                os.fstat(number)
                os.dup2(inner.fileno(), number)
            except OSError:
                pass
    return torch.zeros_like(x)
