"""Dependencies point one way. Each folder may include only what is listed for it here; the CMake targets link the same way."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent

# folder -> folders it may include from. The longest matching prefix of a file's path decides.
ALLOWED: dict[str, tuple[str, ...]] = {
    "base": ("base",),
    "operators": ("base", "operators"),
    "metrics": ("base", "metrics"),
    "sandbox/wire": ("base", "sandbox/wire"),
    "sandbox/jail": ("base", "sandbox/jail"),
    "sandbox/launcher": ("base", "sandbox/wire", "sandbox/jail", "sandbox/launcher"),
    "sandbox/harness/native": ("base", "sandbox/jail"),
    "sandbox": ("base", "sandbox"),
    "tools": ("base", "operators", "sandbox/job/job.h", "sandbox/job/profile.h", "tools"),
    "server/mcp": ("base", "server/mcp"),
    "server/plan_text": ("base", "sandbox/launcher/plan/plan.h", "base/escape.h", "server/plan_text"),
    "server/conformance": ("base", "server/mcp", "server/conformance"),
    "reference_agents": (
        "base",
        "server/mcp/client/client.h",
        "server/mcp/core/server.h",
        "server/mcp/client/http_client.h",
        "reference_agents",
    ),
    "server": ("base", "operators", "metrics", "sandbox", "tools", "server", "reference_agents"),
}
HTTPLIB_FILES = {"server/mcp/http/http_library.h", "server/mcp/client/http_client.cc"}
VALIJSON_FILES = {"server/mcp/schema/schema.cc"}
JSON_FREE = (
    "base",
    "operators",
    "metrics",
    "sandbox/jail",
    "sandbox/device",
    "sandbox/job/job.h",
    "sandbox/job/profile.h",
    "server/plan_text",
)

SOURCES = sorted(
    path.relative_to(ROOT).as_posix()
    for folder in ("base", "operators", "metrics", "sandbox", "tools", "server", "reference_agents")
    for pattern in ("*.h", "*.cc")
    for path in (ROOT / folder).rglob(pattern)
)


def includes(path: str) -> list[str]:
    return re.findall(r'^\s*#\s*include\s*[<"]([^>"]+)[>"]', (ROOT / path).read_text(), re.MULTILINE)


def owner(path: str) -> str:
    return max((folder for folder in ALLOWED if path.startswith(folder + "/")), key=len)


def test_there_are_sources() -> None:
    assert len(SOURCES) > 50


@pytest.mark.parametrize("path", SOURCES)
def test_includes_point_downwards(path: str) -> None:
    top_folders = ("base", "operators", "metrics", "sandbox", "tools", "server", "reference_agents", "tests")
    for included in includes(path):
        if included.split("/")[0] not in top_folders or "/" not in included:
            continue
        allowed = ALLOWED[owner(path)]
        assert any(included == entry or included.startswith(entry + "/") for entry in allowed), (
            f"{path} includes {included}; {owner(path)} may include only {', '.join(allowed)}"
        )


@pytest.mark.parametrize("path", SOURCES)
def test_third_party_stays_at_its_border(path: str) -> None:
    for included in includes(path):
        if included == "httplib.h":
            assert path in HTTPLIB_FILES
        if included.startswith("valijson/"):
            assert path in VALIJSON_FILES
        if included.startswith("nlohmann/"):
            assert not path.startswith(JSON_FREE), f"{path}: JSON stops above this folder"
