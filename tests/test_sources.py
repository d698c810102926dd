"""Checks that each source is named by a test, or that `source_map.toml` lists the tests that run
it.

A test names a C++ source by its own file name (tests/<source>_test.cc) or by including the source's
header. A test names a Python module by importing it or by containing its file name. Measurements
are not checked, because people run them by hand on the machine that they measure."""

from __future__ import annotations

import re
import subprocess
import sys
from functools import cache
from pathlib import Path

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

ROOT = Path(__file__).resolve().parent.parent
MAP = ROOT / "tests/source_map.toml"
CPP = re.compile(r"(base|server|tools|sandbox|operators|metrics|reference_agents)/.*\.(h|cc)")
PYTHON = re.compile(r"(sandbox/harness|importers)/.*\.py")
# The checks leave out these headers. Submissions in CUDA C++ include the headers, and the harness's
# tests compile them.
NOT_OURS = "sandbox/harness/cuda_cpp/include/"
INCLUDE = re.compile(r'#include "([^"]+)"')
WORD = re.compile(r"\w+")


@cache
def tracked() -> list[str]:
    command = ["git", "ls-files", "--cached", "--others", "--exclude-standard"]
    listed = subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True)
    return [name for name in listed.stdout.splitlines() if (ROOT / name).is_file()]


def is_test(name: str) -> bool:
    return name.startswith("tests/") and name.endswith((".cc", ".h", ".py", ".sh", ".mjs"))


def sources() -> set[str]:
    """Returns all sources. A C++ header and its .cc are one source, without an ending. A Python
    module has its ending."""
    cpp = {
        name.rsplit(".", 1)[0]
        for name in tracked()
        if CPP.fullmatch(name) and not name.startswith(NOT_OURS)
    }
    python = {
        name for name in tracked() if PYTHON.fullmatch(name) and not name.endswith("__init__.py")
    }
    return cpp | python


def named_by_tests() -> set[str]:
    texts = {
        name: (ROOT / name).read_text()
        for name in tracked()
        if is_test(name) and name != "tests/test_sources.py"
    }
    included = {
        header.removesuffix(".h") for text in texts.values() for header in INCLUDE.findall(text)
    }
    words = {
        word
        for name, text in texts.items()
        if not name.endswith((".cc", ".h"))
        for word in WORD.findall(text)
    }
    return {
        source
        for source in sources()
        if source in included
        or f"tests/{source}_test.cc" in texts
        or (source.endswith(".py") and Path(source).stem in words)
    }


def test_each_source_is_named_by_a_test_or_by_the_map() -> None:
    mapped = tomllib.loads(MAP.read_text())
    missing = sorted(sources() - named_by_tests() - mapped.keys())
    assert not missing, f"no test names them; add a test, or a line to {MAP.name}: {missing}"


def test_the_map_is_true() -> None:
    mapped = tomllib.loads(MAP.read_text())
    gone = sorted(mapped.keys() - sources())
    assert not gone, f"not a source: {gone}"
    needless = sorted(mapped.keys() & named_by_tests())
    assert not needless, f"a test names them already: {needless}"
    for source, tests in mapped.items():
        assert tests, f"{source}: no test"
        for test in tests:
            assert is_test(test) and (ROOT / test).is_file(), f"{source}: {test} does not exist"
