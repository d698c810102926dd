"""Puts the memory of this process into huge pages, so that a fork is cheaper.

    collapse()  # in the zygote, once it has imported everything

A fork copies the page table. The zygote has about 50,000 pages of 4 KiB, most of them with Python's
objects, for which Python asks the kernel for memory itself. In huge pages of 2 MiB, the table is a
few hundred entries long. A child that writes to a huge page gets a copy of 4 KiB, as before."""

from __future__ import annotations

import ctypes
from collections.abc import Iterable, Iterator

HUGE_PAGE = 2 << 20  # bytes
MADV_COLLAPSE = 25  # since Linux 6.1; the kernel's setting for huge pages does not matter for it
MAPS = "/proc/self/maps"


def ranges(maps: Iterable[str]) -> Iterator[tuple[int, int]]:
    """Yields the address and the size of the whole huge pages in each private memory that is no
    file's, from the lines of /proc/self/maps."""
    for line in maps:
        fields = line.split(maxsplit=5)
        name = fields[5].strip() if len(fields) > 5 else ""
        if fields[1] != "rw-p" or not (name in ("", "[heap]") or name.startswith("[anon:")):
            continue
        begin, end = (int(address, 16) for address in fields[0].split("-"))
        first, last = -(-begin // HUGE_PAGE) * HUGE_PAGE, end // HUGE_PAGE * HUGE_PAGE
        if first < last:
            yield first, last - first


def collapse() -> None:
    """Asks the kernel for huge pages. A kernel that refuses leaves the memory as it is, and forks
    only take longer, so errors are ignored."""
    madvise = ctypes.CDLL(None).madvise
    madvise.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int]
    try:
        with open(MAPS, encoding="utf-8") as file:
            found = list(ranges(file))
    except OSError:
        return  # for example, no file descriptor is free
    for address, size in found:
        madvise(address, size, MADV_COLLAPSE)
