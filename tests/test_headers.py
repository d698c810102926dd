"""Checks that headers and sources include what they use. The builds compile a folder as one file.
In such a file a missing include has no effect, because another file of the folder includes the
header.

The tests compile each header as if it were alone. To save time, one run of the compiler checks a
chain of headers (tests/common/header_chains.py), and the standard library and the third-party
headers are parsed once for all headers. So the compiler does not notice a missing standard header.
Another test finds missing standard headers in the text of the files. It compares the names that a
file uses with the headers that the file includes, directly or through Assay's headers."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from itertools import pairwise
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT / "tests/common")]

from foreign_headers import FOLDERS, LEFT_OUT, headers, parsed  # noqa: E402
from header_chains import chains, closures  # noqa: E402

OURS = re.compile(r'^#include "([^"]+)"', re.MULTILINE)
SYSTEM = re.compile(r"^#include <([^>]+)>", re.MULTILINE)
FIRST_INCLUDE = re.compile(r'^\s*#\s*include\s+["<]([^">]+)', re.MULTILINE)

# Maps each header of the standard library to the names in namespace std that only this header is
# sure to declare.
DECLARED_IN = {
    "algorithm": "all_of any_of clamp copy copy_if count count_if equal fill fill_n find find_if "
    "find_if_not lower_bound max_element min_element minmax mismatch none_of replace replace_if "
    "set_intersection shuffle sort stable_sort transform unique upper_bound",
    "array": "array",
    "atomic": "atomic atomic_ref",
    "bit": "bit_cast",
    "chrono": "chrono",
    "cmath": "ceil exp expm1 fabs floor isfinite isinf isnan llround log log10 log1p log2 lround "
    "pow round sqrt trunc",
    "cstdio": "FILE fclose fflush fgets fopen fprintf fputs fread fwrite printf puts snprintf",
    "cstring": "memcmp memcpy memmove strerror strncpy",
    "deque": "deque",
    "exception": "exception",
    "filesystem": "filesystem",
    "fstream": "ifstream ofstream",
    "functional": "function",
    "future": "async future",
    "limits": "numeric_limits",
    "list": "list",
    "map": "map multimap",
    "memory": "make_shared make_unique shared_ptr unique_ptr",
    "numeric": "accumulate iota",
    "optional": "nullopt optional",
    "random": "mt19937 mt19937_64 random_device uniform_int_distribution",
    "regex": "regex",
    "semaphore": "counting_semaphore",
    "set": "set",
    "span": "as_bytes as_writable_bytes span",
    "sstream": "istringstream ostringstream stringstream",
    "stop_token": "stop_callback stop_source stop_token",
    "string": "getline string to_string",
    "string_view": "string_view",
    "thread": "jthread this_thread thread",
    "unordered_map": "unordered_map",
    "unordered_set": "unordered_set",
    "variant": "get_if holds_alternative variant visit",
    "vector": "vector",
}
STANDARD = {name: header for header, names in DECLARED_IN.items() for name in names.split()}
# Maps a standard header to other headers that it always includes or extends.
ALSO = {"string": {"string_view"}, "thread": {"stop_token"}, "fstream": {"string"}}
USED = re.compile(r"\bstd::(\w+)")
COMMENT_OR_TEXT = re.compile(r'//[^\n]*|"(?:[^"\\\n]|\\.)*"')


@cache
def text_of(name: str) -> str:
    return (ROOT / name).read_text()


@cache
def files() -> list[str]:
    found = sorted(
        path.relative_to(ROOT).as_posix()
        for folder in FOLDERS
        for ending in ("*.h", "*.cc")
        for path in (ROOT / folder).rglob(ending)
    )
    found = [name for name in found if not name.startswith(LEFT_OUT)]
    assert len(found) > 100
    return found


def compiled(text: str) -> subprocess.CompletedProcess[str]:
    command = [*parsed(), "-fsyntax-only", "-x", "c++", "-"]
    return subprocess.run(command, input=text, capture_output=True, text=True, cwd=ROOT)


def includes() -> dict[str, set[str]]:
    """Maps each header to Assay's headers that it includes."""
    known = set(headers())
    return {name: known.intersection(OURS.findall(text_of(name))) for name in headers()}


def compile_chain(chain: tuple[str, ...]) -> str:
    """Compiles the headers of a chain, each of them twice. Returns the compiler's errors, or an
    empty text."""
    done = compiled("".join(f'#include "{header}"\n' * 2 for header in chain))
    return f"{', '.join(chain)}:\n{done.stderr[:600]}" if done.returncode != 0 else ""


def included(name: str) -> set[str]:
    """Returns the standard headers that a file includes, directly or through Assay's headers."""
    seen: set[str] = set()
    waiting = [name]
    found: set[str] = set()
    while waiting:
        current = waiting.pop()
        if current in seen or not (ROOT / current).is_file():
            continue
        seen.add(current)
        found.update(SYSTEM.findall(text_of(current)))
        waiting += OURS.findall(text_of(current))
    for header in tuple(found):
        found |= ALSO.get(header, set())
    return found


def not_included(name: str) -> set[str]:
    """Returns the standard headers that a file needs but does not include."""
    used = set(USED.findall(COMMENT_OR_TEXT.sub("", text_of(name))))
    return {STANDARD[word] for word in used if word in STANDARD} - included(name)


def test_a_source_includes_its_header_first() -> None:
    """Checks that each source includes its own header first, as the style requires."""
    firsts = {
        header: FIRST_INCLUDE.search(text_of(f"{header.removesuffix('.h')}.cc"))
        for header in headers()
        if f"{header.removesuffix('.h')}.cc" in files()
    }
    wrong = [
        header for header, first in firsts.items() if first is None or first.group(1) != header
    ]
    assert not wrong, f"not the first include of their own source: {wrong}"


def late_includes(text: str) -> list[str]:
    """Returns the includes of Assay's headers that come after other code or depend on a macro."""
    late: list[str] = []
    code = False
    for line in text.split("\n"):
        if OURS.match(line):
            late += [line] if code else []
        elif line.strip() and not line.startswith(("#include", "#pragma once", "//")):
            code = True
    return late


def test_headers_include_others_first_and_always() -> None:
    """A chain hides neither a late include nor one that depends on a macro."""
    assert late_includes('#pragma once\n// text\n#include "a.h"\n') == []
    assert late_includes('#ifdef X\n#include "a.h"\n#endif\n') == ['#include "a.h"']
    assert late_includes('int a;\n#include "a.h"\n') == ['#include "a.h"']
    found = {name: late for name in headers() if (late := late_includes(text_of(name)))}
    assert found == {}


def test_headers_compile_alone() -> None:
    parsed()  # once, before the threads need it
    with ThreadPoolExecutor(os.cpu_count()) as threads:
        failures = [one for one in threads.map(compile_chain, chains(includes())) if one]
    assert not failures, "\n".join(failures)


def test_chains_contain_each_header_once_and_each_one_includes_the_one_before() -> None:
    found = chains(includes())
    assert sorted(header for chain in found for header in chain) == sorted(headers())
    assert len(found) < len(headers()) / 2
    closed = closures(includes())
    assert all(first in closed[second] for chain in found for first, second in pairwise(chain))
    small = chains({"a.h": {"b.h"}, "b.h": {"c.h"}, "c.h": set(), "d.h": {"c.h"}})
    assert small == [("c.h", "b.h", "a.h"), ("d.h",)]


def test_a_header_that_lacks_an_include_is_found() -> None:
    done = compiled("inline assay::Result<int> answer() { return 42; }\n")
    assert done.returncode != 0 and "assay" in done.stderr


def test_what_is_used_of_the_standard_library_is_included() -> None:
    missing = {name: sorted(lacks) for name in files() if (lacks := not_included(name))}
    assert not missing, "\n".join(f"{name}: {', '.join(lacks)}" for name, lacks in missing.items())
