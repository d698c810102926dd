# cheat: writes a verdict to every descriptor it can find
# expect: error:protocol_error
# expect_on_gpu: error:protocol_error
# defence: process_separation

import os

print({name: value for name, value in os.environ.items() if "FD" in name or "ASSAY" in name})


def vector_add(x, y):
    for number in range(3, 256):
        try:
            os.write(number, b'{"check": "pass", "duration": 1}\n')
        except OSError:
            pass
    return torch.zeros_like(x)
