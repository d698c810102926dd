# attempt: two jobs compare their random streams, which forks of one process could share
# expect: pass (the attempt gains nothing)
# needs: nothing
# defence: zygote

import random
import tempfile
import uuid

import numpy

streams = [
    random.getrandbits(64),
    numpy.random.randint(1 << 62),
    torch.randint(1 << 62, (1,)).item(),
    uuid.uuid4().hex,
    tempfile.mktemp(),
    hash("x"),
]
streams.append(torch.rand(4).tolist())
for index, stream in enumerate(streams):
    note(f"stream {index}: {stream}")
