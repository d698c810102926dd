"""Tests that the zygote's memory is put into huge pages."""

from __future__ import annotations

import mmap
import re
import subprocess
import sys
from pathlib import Path

import pytest
from harness.candidate import huge_pages
from harness.candidate.huge_pages import HUGE_PAGE, ranges

HARNESS = Path(huge_pages.__file__).parents[2]
SIZE = 4 * HUGE_PAGE


def test_only_whole_huge_pages_of_private_memory_without_a_file_are_named() -> None:
    maps = [
        "00200000-00a00000 rw-p 00000000 00:00 0 ",
        "00d00000-01500000 rw-p 00000000 00:00 0                          [heap]",
        "02000000-02100000 rw-p 00000000 00:00 0 ",  # smaller than a huge page
        "03000000-04000000 rw-s 00000000 00:01 7                          /memfd:inputs",
        "04000000-05000000 rw-p 00000000 08:01 9                          /usr/lib/some.so",
        "05000000-06000000 r-xp 00000000 00:00 0 ",
        "06000000-06400000 rw-p 00000000 00:00 0                          [anon:cpython:pymalloc]",
        "07000000-08000000 rw-p 00000000 00:00 0                          [stack]",
    ]
    assert list(ranges(maps)) == [
        (0x200000, 0x800000),
        (0xE00000, 0x600000),
        (0x6000000, 0x400000),
    ]


def huge_kib() -> int:
    text = Path("/proc/self/smaps_rollup").read_text()
    found = re.search(r"AnonHugePages: +(\d+) kB", text)
    return int(found[1]) if found else 0


def test_memory_that_was_touched_page_by_page_is_collapsed_and_keeps_its_content() -> None:
    memory = mmap.mmap(-1, SIZE, mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
    memory.madvise(mmap.MADV_NOHUGEPAGE)
    for at in range(0, SIZE, mmap.PAGESIZE):
        memory[at : at + 8] = at.to_bytes(8, "little")
    before = huge_kib()
    memory.madvise(mmap.MADV_HUGEPAGE)  # ends MADV_NOHUGEPAGE, and changes no page by itself
    huge_pages.collapse()
    if huge_kib() == before:
        pytest.skip("this kernel collapses no memory on request")
    assert huge_kib() - before >= (SIZE - HUGE_PAGE) >> 10
    assert all(
        memory[at : at + 8] == at.to_bytes(8, "little") for at in range(0, SIZE, mmap.PAGESIZE)
    )


def test_a_process_that_cannot_read_its_maps_keeps_its_memory_as_it_is(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(huge_pages, "MAPS", str(tmp_path / "missing"))
    huge_pages.collapse()


def test_a_child_imports_nothing_to_be_seeded() -> None:
    code = (
        "import sys\n"
        "from harness.candidate import zygote\n"
        "before = set(sys.modules)\n"
        "zygote._reseed()\n"
        "print(sorted(set(sys.modules) - before))\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code],
        env={"PYTHONPATH": str(HARNESS)},
        capture_output=True,
        text=True,
    )
    assert done.stdout == "[]\n", done.stderr
