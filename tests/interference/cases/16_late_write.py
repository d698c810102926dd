# attempt: reveals the hidden case by changing outputs of a public case while the hidden case runs
# expect: pass

import mmap

outputs = []
known = set()  # the inodes of the files in `outputs`


def vector_add(x, y):
    if not is_hidden(x):
        for fd in range(3, 256):
            try:
                if "assay-outputs" in os.readlink(f"/proc/self/fd/{fd}"):
                    file = os.fstat(fd)
                    if file.st_ino not in known:
                        known.add(file.st_ino)
                        outputs.append(mmap.mmap(fd, file.st_size))
            except OSError:
                continue
    else:
        assert outputs, "there is nothing to write to"
        for memory in outputs:
            memory[:4] = number(x).to_bytes(4, "little")
    return honest_add(x, y)
