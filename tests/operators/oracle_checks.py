"""Checks oracles without a GPU. Run as a program, because a process that interprets cannot compile.

    python oracle_checks.py interpret [NAME...]   oracle against reference on every interpreter case
    python oracle_checks.py compile [NAME...]     every kernel launch of every case, for cuda:90

Prints one JSON object per case. The harness has the real lint (mutants, determinism); this is what guards the operator folders alone.
"""

from __future__ import annotations

import importlib.util
import json
import sys
import time

try:
    import tomllib
except ModuleNotFoundError:
    import tomli as tomllib  # type: ignore[no-redef]
from pathlib import Path
from types import ModuleType
from typing import Any

import torch

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "sandbox"))

from harness.operator import Case, Rng  # noqa: E402

SEED = 20260728


def load(path: Path) -> ModuleType:
    spec = importlib.util.spec_from_file_location(f"{path.parent.name}_{path.stem}", path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


def extent(expression: str, axes: dict[str, int]) -> int:
    value = 1
    for factor in str(expression).split("*"):
        value *= axes[factor] if factor in axes else int(factor)
    return value


def make_case(row: dict[str, Any]) -> Case:
    return Case(
        id=row["id"], axes=row["axes"], dtype=getattr(torch, row["dtype"]), distribution=row["distribution"], device=torch.device("cpu")
    )


def as_tuple(value: Any) -> tuple[Any, ...]:
    return value if isinstance(value, tuple) else (value,)


def collect(spec: dict[str, Any], arguments: dict[str, Any], returned: Any) -> list[torch.Tensor]:
    """The outputs in the spec's order: what was returned, and inout arguments after the call."""
    rest = iter(() if returned is None else as_tuple(returned))
    return [arguments[row["from"]] if "from" in row else next(rest) for row in spec["outputs"]]


def scaled_error(spec: dict[str, Any], row: dict[str, Any], actual: list[torch.Tensor], expected: list[torch.Tensor]) -> float:
    """The worst scaled error as a share of the tolerance: at most 1 passes. Wrong dtype, shape or NaN is infinite."""
    worst = 0.0
    for output, a, e in zip(spec["outputs"], actual, expected, strict=True):
        shape = tuple(extent(x, row["axes"]) for x in output["shape"])
        if a.dtype != e.dtype or a.shape != shape or e.shape != shape:
            return float("inf")
        scale = output.get("scale", 1)
        factor = extent(scale, row["axes"]) if isinstance(scale, str) else scale
        error = float((a.double() - e.double()).abs().max()) * factor
        limit = output["max_abs_error"]
        if error != error or (limit == 0 and error > 0):
            return float("inf")
        worst = max(worst, error / limit if limit else 0.0)
    return worst


def check_interpreted(folder: Path, spec: dict[str, Any]) -> None:
    reference = load(folder / "reference.py")
    oracle = load(folder / "oracle.py")
    for row in spec["cases"]:
        if not row["interpreter"]:
            continue
        case = make_case(row)
        arguments = reference.inputs(case, Rng(SEED, case.device))
        kept = {name: value.clone() if isinstance(value, torch.Tensor) else value for name, value in arguments.items()}
        expected = list(as_tuple(reference.reference(**arguments)))
        wide = {
            name: value.double() if isinstance(value, torch.Tensor) and value.is_floating_point() else value for name, value in kept.items()
        }
        exact = [e.to(w.dtype) for w, e in zip(expected, as_tuple(reference.reference(**wide)), strict=True)]
        unchanged = all(torch.equal(kept[n], v) for n, v in arguments.items() if isinstance(v, torch.Tensor))
        tensors = [v for v in arguments.values() if isinstance(v, torch.Tensor)]
        moved = sum(t.numel() * t.element_size() for t in tensors) + sum(t.numel() * t.element_size() for t in expected)
        started = time.monotonic()
        actual = collect(spec, arguments, getattr(oracle, spec["entry"])(**arguments))
        seconds = time.monotonic() - started
        inout = {a["name"] for a in spec["arguments"] if a["role"] == "inout"}
        modified = [n for n, v in arguments.items() if isinstance(v, torch.Tensor) and n not in inout and not torch.equal(kept[n], v)]
        record = {
            "operator": spec["name"],
            "case": row["id"],
            "error": scaled_error(spec, row, actual, expected),
            "float64_error": scaled_error(spec, row, exact, expected),
            "largest": max(float(e.double().abs().max()) for e in expected),
            "reference_pure": unchanged,
            "modified_inputs": modified,
            "bytes_agree": reference.cost(case).bytes == moved,
            "seconds": round(seconds, 3),
        }
        print(json.dumps(record), flush=True)


def main() -> None:
    action, names = sys.argv[1], sys.argv[2:]
    if action == "interpret":
        from harness.triton_adapter import switch_to_interpreter

        switch_to_interpreter()  # as a candidate does, so what is tested here is what runs there
    for path in sorted((ROOT / "operators").glob("*/*/spec.toml")):
        spec = tomllib.loads(path.read_text())
        if names and spec["name"] not in names:
            continue
        if action == "interpret":
            if spec["dialect"] == "triton":
                check_interpreted(path.parent, spec)
        else:
            from oracle_compile import check_compiled

            check_compiled(path.parent, spec, load(path.parent / "reference.py"), load(path.parent / "oracle.py"))


if __name__ == "__main__":
    main()
