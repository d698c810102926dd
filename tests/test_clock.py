"""Checks that product code reads time and waits only through `Clock` (base/clock.h). So a test can
set the time for the code that it tests."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
CPP = ("base", "metrics", "operators", "reference_agents", "sandbox", "server", "tools")

# Maps each file that may read time without Clock to the reason.
EXCEPTIONS: dict[str, str] = {
    "base/clock.h": "it is the clock",
}

# Matches direct uses of time. `sleep` and `time` match only after `::`, because the product also
# has functions with these names.
DIRECT = re.compile(
    r"chrono::(?:steady|system|high_resolution|utc)_clock\b|\bsleep_(?:for|until)\b"
    r"|\b(?:nanosleep|usleep|clock_nanosleep|clock_gettime|gettimeofday)\s*\("
    r"|(?<!\w)(?:std)?::(?:sleep|time)\s*\("
)
COMMENT = re.compile(r"//[^\n]*")


def direct_uses(source: str) -> list[str]:
    """Returns the uses of a clock other than Clock in a C++ source. Ignores comments."""
    return DIRECT.findall(COMMENT.sub("", source))


def files_with_direct_uses() -> dict[str, list[str]]:
    command = ["git", "ls-files", "--cached", "--others", "--exclude-standard", "--", *CPP]
    listed = subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True)
    names = [name for name in listed.stdout.splitlines() if name.endswith((".cc", ".h"))]
    assert len(names) > 300
    found = {
        name: direct_uses((ROOT / name).read_text()) for name in names if (ROOT / name).exists()
    }
    return {name: uses for name, uses in found.items() if uses}


def test_only_the_exceptions_read_time_without_the_clock() -> None:
    strange = {
        name: uses for name, uses in files_with_direct_uses().items() if name not in EXCEPTIONS
    }
    assert not strange, f"use Clock of base/clock.h, or name the reason in EXCEPTIONS: {strange}"


def test_no_exception_is_needless() -> None:
    assert set(EXCEPTIONS) <= set(files_with_direct_uses())


@pytest.mark.parametrize(
    ("source", "count"),
    [
        ("const auto now = std::chrono::steady_clock::now();", 1),
        ("std::this_thread::sleep_for(kPause);", 1),
        ("::nanosleep(&pause, nullptr);", 1),
        ("const auto seconds = std::time(nullptr);", 1),
        ("::sleep(1);", 1),
        ("system_clock().pause(kPause); deadline.time();", 0),
        ("clock.sleep_ms(5); Clock::time();", 0),
        ("// std::chrono::steady_clock in a comment", 0),
    ],
)
def test_direct_uses_are_seen(source: str, count: int) -> None:
    assert len(direct_uses(source)) == count
