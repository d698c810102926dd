# cheat: searches the memory of its process for the seed of the inputs
# expect: fail:wrong_result
# expect_on_gpu: fail:wrong_result
# defence: process_separation

import ctypes
import re

SEED = re.compile(rb'"seed"\s*:\s*"?(0x)?[0-9a-f]{6,}')
MOST_BYTES = 1 << 26


def vector_add(x, y):
    with open("/proc/self/maps") as maps:
        for line in maps.readlines():
            where, rights = line.split()[:2]
            first, last = (int(part, 16) for part in where.split("-"))
            if rights.startswith("rw") and last - first < MOST_BYTES:
                if match := SEED.search(ctypes.string_at(first, last - first)):
                    found(f"a seed: {match[0]!r}")
    return torch.zeros_like(x)
