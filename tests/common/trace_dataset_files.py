"""Writes small datasets in the format of FlashInfer Trace, and checks datasets by the format's rules
in this project's own words."""

from __future__ import annotations

import ast
import json
from pathlib import Path
from typing import Any

STATUSES = {
    *("PASSED", "INCORRECT_SHAPE", "INCORRECT_NUMERICAL", "INCORRECT_DTYPE"),
    *("RUNTIME_ERROR", "COMPILE_ERROR", "TIMEOUT"),
}
LANGUAGES = {"python", "triton", "cpp", "cuda", "tilelang"}
DTYPES = {
    *("float32", "float16", "bfloat16", "float8_e4m3fn", "float8_e5m2", "float4_e2m1"),
    *("int64", "int32", "int16", "int8", "bool"),
}
SCALE = "import torch\n\ndef run(X, w):\n    return X * w[:, None]\n"


def definition(name: str, reference: str = SCALE, **changes: Any) -> dict[str, Any]:
    """A definition with the inputs X [M, 64] and w [M], and the output Y [M, 64], in float32."""
    return {
        "name": name,
        "op_type": "scaling",
        "axes": {"M": {"type": "var"}, "N": {"type": "const", "value": 64}},
        "inputs": {
            "X": {"shape": ["M", "N"], "dtype": "float32"},
            "w": {"shape": ["M"], "dtype": "float32"},
        },
        "outputs": {"Y": {"shape": ["M", "N"], "dtype": "float32"}},
        "reference": reference,
        **changes,
    }


def workload(uuid: str, axes: dict[str, int], **inputs: Any) -> dict[str, Any]:
    given = {name: one if one else {"type": "random"} for name, one in inputs.items()}
    return {"uuid": uuid, "axes": axes, "inputs": given}


def write(folder: Path, document: dict[str, Any], workloads: list[dict[str, Any]]) -> None:
    kind, name = document["op_type"], document["name"]
    for below in ("definitions", "workloads"):
        (folder / below / kind).mkdir(parents=True, exist_ok=True)
    (folder / "definitions" / kind / f"{name}.json").write_text(json.dumps(document))
    lines = [
        json.dumps({"definition": name, "workload": one, "solution": None, "evaluation": None})
        for one in workloads
    ]
    (folder / "workloads" / kind / f"{name}.jsonl").write_text("\n".join(lines) + "\n")


def write_solution(folder: Path, name: str, of: str, text: str, entry: str, language: str) -> None:
    document = {
        "name": name,
        "definition": of,
        "author": "someone",
        "spec": {"language": language, "target_hardware": ["cuda"], "entry_point": entry},
        "sources": [{"path": entry.partition("::")[0], "content": text}],
    }
    place = folder / "solutions/someone/scaling" / of
    place.mkdir(parents=True, exist_ok=True)
    (place / f"{name}.json").write_text(json.dumps(document))


def checked(folder: Path) -> dict[str, list[dict[str, Any]]]:
    """Asserts that the dataset follows the rules of the format. Returns its documents by kind."""
    found: dict[str, list[dict[str, Any]]] = {}
    definitions = {}
    for path in sorted((folder / "definitions").rglob("*.json")):
        one = json.loads(path.read_text())
        _check_definition(one)
        assert (path.parent.name, path.stem) == (one["op_type"], one["name"])
        assert one["name"] not in definitions
        definitions[one["name"]] = one
    solutions = {}
    for path in sorted((folder / "solutions").rglob("*.json")):
        one = json.loads(path.read_text())
        _check_solution(one)
        of = definitions[one["definition"]]
        place = (one["author"], of["op_type"], of["name"], f"{one['name']}.json")
        assert path.relative_to(folder / "solutions").parts == place
        assert one["name"] not in solutions
        solutions[one["name"]] = one
    for kind in ("workloads", "traces"):
        found[kind] = []
        for path in sorted((folder / kind).rglob("*.jsonl")):
            for line in path.read_text().splitlines():
                one = json.loads(line)
                assert path.stem == one["definition"]
                _check_workload(one["workload"], definitions[one["definition"]], folder)
                is_workload = one["solution"] is None and one["evaluation"] is None
                assert is_workload == (kind == "workloads")
                if kind == "traces":
                    assert solutions[one["solution"]]["definition"] == one["definition"]
                    _check_evaluation(one["evaluation"])
                found[kind].append(one)
    return {"definitions": [*definitions.values()], "solutions": [*solutions.values()], **found}


def _check_definition(one: dict[str, Any]) -> None:
    assert all(one[key] for key in ("name", "op_type", "description", "axes", "outputs"))
    body = ast.parse(one["reference"]).body
    assert any(isinstance(node, ast.FunctionDef) and node.name == "run" for node in body)
    for axis in one["axes"].values():
        assert axis["type"] == "var" or (axis["type"] == "const" and axis["value"] >= 0)
    assert not set(one["inputs"]) & set(one["outputs"])
    for tensor in (*one["inputs"].values(), *one["outputs"].values()):
        assert tensor["dtype"] in DTYPES
        assert tensor["shape"] is None or set(tensor["shape"]) <= set(one["axes"])
    for constraint in one.get("constraints", []):
        ast.parse(constraint, mode="eval")


def _check_workload(one: dict[str, Any], of: dict[str, Any], folder: Path) -> None:
    assert one["uuid"]
    assert set(one["axes"]) == {name for name, axis in of["axes"].items() if axis["type"] == "var"}
    assert all(value > 0 for value in one["axes"].values())
    assert set(one["inputs"]) == set(of["inputs"])
    for name, given in one["inputs"].items():
        assert given["type"] in ("random", "scalar", "safetensors")
        assert (of["inputs"][name]["shape"] is None) == (given["type"] == "scalar")
        if given["type"] == "safetensors":
            assert (folder / given["path"]).is_file() and given["tensor_key"]


def _check_solution(one: dict[str, Any]) -> None:
    file, separator, function = one["spec"]["entry_point"].partition("::")
    assert separator and function and file in [source["path"] for source in one["sources"]]
    assert one["spec"]["language"] in LANGUAGES and one["spec"]["target_hardware"]
    assert all(source["content"] and ".." not in source["path"] for source in one["sources"])


def _check_evaluation(one: dict[str, Any]) -> None:
    status = one["status"]
    assert status in STATUSES and one["timestamp"] and one["environment"]["hardware"]
    assert ("correctness" in one) == (status in ("PASSED", "INCORRECT_NUMERICAL"))
    assert ("performance" in one) == (status == "PASSED")
    for value in one.get("performance", {}).values():
        assert value > 0
