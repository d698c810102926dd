"""Tests server.json for an example owner against the rules of the MCP registry, and that the image and
the README name the same server. SCHEMA has the rules of the registry's schema of 2025-12-11 for the members that
server.json uses, in words of this project; a member that has no rule here is refused."""

from __future__ import annotations

import copy
import importlib.metadata
import importlib.util
import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import jsonschema
import pytest

ROOT = Path(__file__).resolve().parent.parent.parent
SCRIPT = ROOT / "packaging/server_json.py"
CONTAINERFILE = ROOT / "packaging/oci/Containerfile"
OWNER = "Octo-Org"
SHORT = {"type": "string", "minLength": 1, "maxLength": 100}
INPUT = {
    "description": {"type": "string"},
    "format": {"enum": ["string", "number", "boolean", "filepath"]},
    "value": {"type": "string"},
    "isRequired": {"type": "boolean"},
}


def strict(properties: dict[str, Any], *required: str) -> dict[str, Any]:
    return {
        "type": "object",
        "properties": properties,
        "required": list(required),
        "additionalProperties": False,
    }


ARGUMENTS = {
    "type": "array",
    "items": {
        "oneOf": [
            strict({**INPUT, "type": {"const": "positional"}}, "type", "value"),
            strict(
                {
                    **INPUT,
                    "type": {"const": "named"},
                    "name": {"type": "string"},
                    "isRepeated": {"type": "boolean"},
                },
                "type",
                "name",
            ),
        ]
    },
}
PACKAGE = strict(
    {
        "registryType": {"enum": ["pypi", "oci"]},
        "identifier": {"type": "string", "minLength": 1},
        "version": {"type": "string", "pattern": r"^[0-9]+\.[0-9]+\.[0-9]+$"},
        "runtimeHint": {"enum": ["uvx", "docker"]},
        "transport": strict({"type": {"const": "stdio"}}, "type"),
        "runtimeArguments": ARGUMENTS,
        "packageArguments": ARGUMENTS,
        "environmentVariables": {
            "type": "array",
            "items": strict({**INPUT, "name": {"type": "string"}}, "name"),
        },
    },
    "registryType",
    "identifier",
    "transport",
)
SCHEMA = strict(
    {
        "$schema": {
            "const": "https://static.modelcontextprotocol.io/schemas/2025-12-11/server.schema.json"
        },
        "name": {
            "type": "string",
            "minLength": 3,
            "maxLength": 200,
            "pattern": "^[a-zA-Z0-9.-]+/[a-zA-Z0-9._-]+$",
        },
        "title": SHORT,
        "description": SHORT,
        "version": {"type": "string", "maxLength": 255, "pattern": r"^[0-9]+\.[0-9]+\.[0-9]+$"},
        "repository": strict(
            {"url": {"type": "string", "pattern": "^https://"}, "source": {"const": "github"}},
            "url",
            "source",
        ),
        "packages": {"type": "array", "items": PACKAGE, "minItems": 1},
    },
    "name",
    "description",
    "version",
)


def server_json() -> Any:
    spec = importlib.util.spec_from_file_location("server_json", SCRIPT)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def document() -> dict[str, Any]:
    return server_json().document(OWNER)  # type: ignore[no-any-return]


def test_the_file_is_valid(document: dict[str, Any]) -> None:
    jsonschema.Draft7Validator.check_schema(SCHEMA)
    jsonschema.validate(document, SCHEMA)
    assert document["name"] == "io.github.Octo-Org/assay"
    assert document["packages"][1]["identifier"].startswith("ghcr.io/octo-org/assay:")


@pytest.mark.parametrize(
    ("place", "value"),
    [
        (("name",), "assay"),
        (("description",), "x" * 101),
        (("version",), "latest"),
        (("packages", 0, "version"), "^0.1.0"),
        (("packages", 0, "transport"), {"type": "http"}),
        (("packages", 1, "runtimeArguments", 0), {"type": "named"}),
        (("remote",), "https://example.org"),
    ],
)
def test_the_rules_refuse_what_the_registry_refuses(
    document: dict[str, Any], place: tuple[Any, ...], value: Any
) -> None:
    changed = copy.deepcopy(document)
    at: Any = changed
    for key in place[:-1]:
        at = at[key]
    at[place[-1]] = value
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate(changed, SCHEMA)


def test_the_readme_and_the_image_name_the_same_server(document: dict[str, Any]) -> None:
    readme = (ROOT / "README.md").read_text()
    marked = server_json().with_marker(readme, OWNER)
    assert marked.startswith(f"# Assay\n<!-- mcp-name: {document['name']} -->\n\n")
    assert server_json().with_marker(marked, OWNER) == marked
    environment = {**os.environ, "ASSAY_OWNER": OWNER}
    named = subprocess.run(
        [sys.executable, SCRIPT, "--name"], env=environment, capture_output=True, text=True
    )
    assert named.stdout == document["name"] + "\n"
    image = CONTAINERFILE.read_text()
    assert 'io.modelcontextprotocol.server.name="${SERVER_NAME}"' in image
    workflow = (ROOT / ".github/workflows/release.yml").read_text()
    assert re.search(r"^  ASSAY_OWNER: \$\{\{ github\.repository_owner \}\}", workflow, re.M)
    assert "--build-arg SERVER_NAME=" in workflow
    entry = re.search(r"^ENTRYPOINT (.*)\nCMD (.*)$", image, re.M)
    assert entry is not None and json.loads(entry[1]) == ["assay"]
    words = [one["value"] for one in document["packages"][1]["packageArguments"]]
    assert words == json.loads(entry[2])


def test_the_documented_flags_are_those_of_the_file(document: dict[str, Any]) -> None:
    page = (ROOT / "docs/how-to/use-a-container.md").read_text()
    for one in document["packages"][1]["runtimeArguments"]:
        assert f"{one['name']} {one['value']}" in page


def test_the_validator_is_pinned() -> None:
    """It came only as a dependency of another package before."""
    pin = re.search(r"^jsonschema==(\S+)", (ROOT / "requirements.txt").read_text(), re.M)
    assert pin is not None and pin[1] == importlib.metadata.version("jsonschema")


def test_the_tree_names_no_owner() -> None:
    for path in (ROOT / "README.md", CONTAINERFILE, *(ROOT / "docs").rglob("*.md")):
        text = path.read_text()
        assert "io.github.OWNER" not in text and "--owner OWNER" not in text, path


@pytest.mark.parametrize(("owner", "why"), [("a/b", "no owner"), ("", "ASSAY_OWNER")])
def test_a_bad_owner_is_refused(owner: str, why: str) -> None:
    done = subprocess.run(
        [sys.executable, SCRIPT, "--owner", owner], capture_output=True, text=True
    )
    assert done.returncode == 2 and why in done.stderr
