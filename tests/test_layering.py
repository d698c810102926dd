"""Checks that dependencies between folders point one way. Files of a folder can include only files
of the same folder and of the folders that ALLOWED lists for it. The CMake targets may link only in
the same direction."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent

# Maps each folder to the folders from which it can include. Every folder with C++ files has a line.
# A folder's line comes after the lines of all folders that it uses, so there can be no cycle.
ALLOWED: dict[str, tuple[str, ...]] = {
    "base": (),
    "metrics": ("base",),
    "operators": ("base",),
    "operators/search": ("base", "operators"),
    "server/mcp/protocol": ("base",),
    "server/mcp/schema": ("base", "server/mcp/protocol"),
    "server/mcp/core": ("base", "server/mcp/protocol", "server/mcp/schema"),
    "server/mcp/stdio": ("base", "server/mcp/core"),
    "server/mcp/client": ("base", "server/mcp/core", "server/mcp/protocol", "server/mcp/stdio"),
    "reference_agents/llm": ("base", "server/mcp/client"),
    "reference_agents/core": ("base", "reference_agents/llm", "server/mcp/client"),
    "reference_agents/alphaevolve": ("base", "reference_agents/core", "reference_agents/llm"),
    "reference_agents/geak": ("base", "reference_agents/core", "reference_agents/llm"),
    "reference_agents/leader": ("base", "reference_agents/core", "reference_agents/llm"),
    "reference_agents/one_shot": ("base", "reference_agents/core", "reference_agents/llm"),
    "reference_agents/sim": ("base", "reference_agents/core", "reference_agents/llm"),
    "reference_agents/registry": (
        "base",
        "reference_agents/alphaevolve",
        "reference_agents/core",
        "reference_agents/geak",
        "reference_agents/leader",
        "reference_agents/llm",
        "reference_agents/one_shot",
        "reference_agents/sim",
        "server/mcp/client",
    ),
    "sandbox/jail": ("base",),
    "sandbox/wire": ("base", "sandbox/jail"),
    "sandbox/job": ("base", "sandbox/jail", "sandbox/wire"),
    "sandbox/launcher/driver": ("base", "sandbox/jail", "sandbox/wire"),
    "sandbox/launcher/memory": ("base", "sandbox/launcher/driver"),
    "sandbox/launcher/plan": ("base",),
    "sandbox/launcher/timing": ("base", "sandbox/launcher/driver", "sandbox/wire"),
    "sandbox/launcher/replay": (
        "base",
        "sandbox/launcher/driver",
        "sandbox/launcher/memory",
        "sandbox/launcher/plan",
        "sandbox/launcher/timing",
        "sandbox/wire",
    ),
    "sandbox/launcher/process": (
        "base",
        "sandbox/jail",
        "sandbox/launcher/driver",
        "sandbox/launcher/memory",
        "sandbox/launcher/plan",
        "sandbox/launcher/replay",
        "sandbox/launcher/timing",
        "sandbox/wire",
    ),
    "sandbox/pool": ("base", "sandbox/jail", "sandbox/job", "sandbox/wire"),
    "sandbox/record": ("base", "sandbox/job", "sandbox/pool", "sandbox/wire"),
    "sandbox/launch": (
        "base",
        "sandbox/job",
        "sandbox/launcher/process",
        "sandbox/pool",
        "sandbox/record",
    ),
    "sandbox/judging": (
        "base",
        "sandbox/job",
        "sandbox/launch",
        "sandbox/pool",
        "sandbox/record",
        "sandbox/wire",
    ),
    "sandbox/profile": ("base", "sandbox/job", "sandbox/pool", "sandbox/record"),
    "sandbox/timing": (
        "base",
        "sandbox/job",
        "sandbox/judging",
        "sandbox/launch",
        "sandbox/pool",
        "sandbox/wire",
    ),
    "sandbox/sanitize": (
        "base",
        "sandbox/job",
        "sandbox/launch",
        "sandbox/launcher/process",
        "sandbox/pool",
        "sandbox/wire",
    ),
    "sandbox/gpu": (
        "base",
        "sandbox/jail",
        "sandbox/job",
        "sandbox/judging",
        "sandbox/launch",
        "sandbox/pool",
        "sandbox/profile",
        "sandbox/record",
        "sandbox/sanitize",
        "sandbox/timing",
        "sandbox/wire",
    ),
    "sandbox/device": (
        "base",
        "sandbox/gpu",
        "sandbox/jail",
        "sandbox/job",
        "sandbox/judging",
        "sandbox/pool",
        "sandbox/profile",
        "sandbox/record",
        "sandbox/timing",
    ),
    "sandbox/harness/cuda_cpp/include": (),
    "sandbox/harness/native": ("sandbox/jail",),
    "tools/json": ("base", "sandbox/job"),
    "tools/model": ("base", "operators", "operators/search", "sandbox/job", "tools/json"),
    "server/report/model": (
        "base",
        "metrics",
        "operators",
        "reference_agents/llm",
        "sandbox/device",
        "sandbox/job",
        "tools/model",
    ),
    "server/store": ("base", "sandbox/job", "server/mcp/core", "tools/json", "tools/model"),
    "server/transcripts": ("base",),
    "server/imports": ("base", "sandbox/job", "server/store", "tools/model"),
    "server/runs": (
        "base",
        "metrics",
        "operators",
        "sandbox/job",
        "server/mcp/core",
        "server/store",
        "tools/model",
    ),
    "server/app": (
        "base",
        "operators",
        "sandbox/jail",
        "sandbox/job",
        "server/report/model",
        "server/runs",
        "server/store",
    ),
    "server/report/text": ("base", "metrics", "server/report/model"),
    "server/bench": (
        "base",
        "operators",
        "reference_agents/core",
        "reference_agents/llm",
        "reference_agents/registry",
        "sandbox/device",
        "server/app",
        "server/mcp/client",
        "server/report/model",
        "server/report/text",
        "server/store",
        "server/transcripts",
        "tools/model",
    ),
    "server/conformance": ("base", "server/mcp/core", "server/mcp/protocol"),
    "server/lint": (
        "base",
        "operators",
        "sandbox/device",
        "sandbox/job",
        "server/app",
        "tools/json",
        "tools/model",
    ),
    "server/workers": ("base", "sandbox/device", "sandbox/job", "sandbox/pool", "sandbox/record")
    + ("sandbox/wire", "server/app", "tools/json"),
    "server/mcp/oauth": ("base", "server/mcp/core", "server/mcp/protocol"),
    "server/mcp/http": ("base", "server/mcp/core", "server/mcp/oauth", "server/mcp/protocol"),
    "server/observe": (
        "base",
        "sandbox/job",
        "server/mcp/client",
        "server/mcp/core",
        "server/mcp/http",
        "server/mcp/protocol",
        "server/runs",
        "server/workers",
        "tools/model",
    ),
    "server/plan_text": ("base", "operators", "sandbox/launcher/plan", "server/app")
    + ("server/store",),
    "tools/answer": (
        "base",
        "operators",
        "sandbox/job",
        "server/mcp/core",
        "server/mcp/protocol",
        "tools/json",
        "tools/model",
    ),
    "tools/call": ("base", "operators", "sandbox/job", "server/mcp/core", "tools/answer")
    + ("tools/model",),
    "tools": (
        "base",
        "operators",
        "operators/search",
        "sandbox/job",
        "server/mcp/core",
        "tools/answer",
        "tools/call",
        "tools/model",
    ),
    "tools/resources": (
        "base",
        "operators",
        "server/mcp/core",
        "server/mcp/protocol",
        "tools",
        "tools/answer",
        "tools/call",
        "tools/model",
    ),
    "server/bundle": ("base", "sandbox/job", "server/transcripts", "tools/json", "tools/model"),
    "server/site": ("base", "operators", "server/app", "server/report/model", "server/report/text")
    + ("sandbox/job", "server/bundle", "server/mcp/core", "server/mcp/http", "server/mcp/protocol")
    + ("server/runs", "server/store", "server/transcripts", "tools/answer", "tools/json")
    + ("tools/model",),
    "server/edge": (
        "base",
        "server/app",
        "server/mcp/client",
        "server/mcp/core",
        "server/mcp/http",
        "server/mcp/oauth",
        "server/runs",
        "tools/model",
    ),
    "server/evaluate": (
        "base",
        "operators",
        "reference_agents/core",
        "sandbox/job",
        "server/mcp/core",
        "server/mcp/http",
        "server/mcp/protocol",
        "server/mcp/schema",
        "server/runs",
        "server/workers",
        "tools",
        "tools/answer",
        "tools/call",
        "tools/model",
    ),
    "server/commands/shell": ("base", "server/app"),
    "server/commands/export": (
        "base",
        "operators",
        "sandbox/job",
        "server/app",
        "server/bench",
        "server/bundle",
        "server/report/model",
        "server/runs",
        "server/store",
        "server/transcripts",
        "tools",
        "tools/json",
        "tools/model",
    ),
    "server/commands": (
        "base",
        "operators",
        "operators/search",
        "reference_agents/registry",
        "sandbox/device",
        "sandbox/job",
        "sandbox/pool",
        "server/app",
        "server/bench",
        "server/bundle",
        "server/conformance",
        "server/edge",
        "server/evaluate",
        "server/imports",
        "server/lint",
        "server/mcp/client",
        "server/mcp/core",
        "server/mcp/http",
        "server/mcp/oauth",
        "server/mcp/protocol",
        "server/mcp/stdio",
        "server/observe",
        "server/plan_text",
        "server/report/model",
        "server/report/text",
        "server/runs",
        "server/site",
        "server/store",
        "server/workers",
        "tools",
        "tools/answer",
        "tools/json",
        "tools/model",
        "tools/resources",
    ),
    "server": ("base", "server/commands", "server/commands/export", "server/commands/shell"),
}
HTTPLIB_FILES = {"server/mcp/client/http_client.cc"}
VALIJSON_FILES = {"server/mcp/schema/schema.cc"}
JSON_HEADER = "base/json.h"  # the only file that includes <nlohmann/json.hpp>
JSON_OF_BASE = {"base/json.cc", "base/json_depth.h"}
# Folders that must not use JSON. They use only numbers, structs and text.
JSON_FREE = (
    "base/",
    "operators/",
    "metrics/",
    "sandbox/jail/",
    "sandbox/job/",
    "sandbox/record/",
    "sandbox/launch/",
    "sandbox/judging/",
    "sandbox/timing/",
    "sandbox/profile/",
    "sandbox/sanitize/",
    "sandbox/gpu/",
    "sandbox/device/",
    "server/plan_text/",
)

TOP_FOLDERS = ("base", "operators", "metrics", "sandbox", "tools", "server", "reference_agents")
SOURCES = sorted(
    path.relative_to(ROOT).as_posix()
    for folder in TOP_FOLDERS
    for pattern in ("*.h", "*.cc")
    for path in (ROOT / folder).rglob(pattern)
)


def includes(path: str) -> list[str]:
    return re.findall(
        r'^\s*#\s*include\s*[<"]([^>"]+)[>"]', (ROOT / path).read_text(), re.MULTILINE
    )


def folder_of(path: str) -> str:
    return path.rpartition("/")[0]


def test_there_are_sources() -> None:
    assert len(SOURCES) > 50


def test_every_folder_has_its_line() -> None:
    assert {folder_of(path) for path in SOURCES} == set(ALLOWED)


def test_the_table_has_no_cycle() -> None:
    known: set[str] = set()
    for folder, below in ALLOWED.items():
        assert set(below) <= known, f"{folder} uses {set(below) - known}, which stand above it"
        known.add(folder)


@pytest.mark.parametrize("path", SOURCES)
def test_includes_point_downwards(path: str) -> None:
    folder = folder_of(path)
    allowed = (folder, *ALLOWED[folder])
    for included in includes(path):
        if included.split("/")[0] in (*TOP_FOLDERS, "tests") and "/" in included:
            assert folder_of(included) in allowed, (
                f"{path} includes {included}; {folder} may include only {', '.join(allowed)}"
            )


@pytest.mark.parametrize("path", SOURCES)
def test_third_party_stays_at_its_border(path: str) -> None:
    for included in includes(path):
        if included == "httplib.h":
            assert path in HTTPLIB_FILES
        if included.startswith("valijson/"):
            assert path in VALIJSON_FILES
        if included == "nlohmann/json.hpp":
            assert path == JSON_HEADER, f"{path}: include {JSON_HEADER} instead"
        elif included.startswith("nlohmann/") or (
            included == JSON_HEADER and path not in JSON_OF_BASE
        ):
            assert not path.startswith(JSON_FREE), f"{path}: JSON stops above this folder"
