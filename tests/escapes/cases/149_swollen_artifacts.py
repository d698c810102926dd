# attempt: replaces its compiled kernels by 56 MiB of text, which the server would store
# expect: pass (the attempt gains nothing)
# needs: nothing
# defence: frames
# tool: compile

import pathlib

add = vector_add


def vector_add(x, y):
    z = add(x, y)
    for path in pathlib.Path("/tmp").rglob("*.ptx"):
        path.write_bytes(os.urandom(1 << 20).hex().encode() * 28)
    return z
