# attempt: reads a mapped file beyond its end
# expect: error:crash
# needs: nothing
# defence: supervisor

import mmap


def vector_add(x, y):
    fd = os.open("/tmp/short", os.O_CREAT | os.O_RDWR)
    os.ftruncate(fd, 8192)
    mapped = mmap.mmap(fd, 8192)
    os.ftruncate(fd, 0)
    return mapped[5000]
