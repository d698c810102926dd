"""Reads the files of an operator as text, so that the generator of cheats can change the oracle.
Imports neither torch nor the operator's Python code."""

from __future__ import annotations

import math
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

ROOT = Path(__file__).resolve().parents[3]
SPLITS = ("standard", "ood", "dsl")


@dataclass(frozen=True)
class OperatorText:
    name: str
    folder: Path
    spec: dict[str, Any]
    oracle: str
    reference: str

    @property
    def entry(self) -> str:
        return str(self.spec["entry"])

    @property
    def arguments(self) -> list[str]:
        return [argument["name"] for argument in self.spec["arguments"]]

    @property
    def scalar_names(self) -> list[str]:
        return [a["name"] for a in self.spec["arguments"] if a["type"] != "tensor"]

    @property
    def read_only_tensors(self) -> list[str]:
        """Returns the tensors that a submission must not change."""
        return [
            a["name"]
            for a in self.spec["arguments"]
            if a["type"] == "tensor" and a["role"] == "input"
        ]

    def shapes(self, case: dict[str, Any]) -> list[tuple[int, ...]]:
        """Returns the shapes of the tensor arguments in a case of the spec."""

        def extent(text: str | int) -> int:
            sizes = [
                int(part) if part.strip().isdigit() else int(case["axes"][part.strip()])
                for part in str(text).split("*")
            ]
            return math.prod(sizes)

        return [
            tuple(extent(part) for part in argument["shape"])
            for argument in self.spec["arguments"]
            if argument["type"] == "tensor"
        ]

    @property
    def returned_outputs(self) -> list[str]:
        return [output["name"] for output in self.spec["outputs"] if "from" not in output]

    @property
    def sources_of_outputs(self) -> list[str]:
        """Returns for each output the inout argument that holds it, or an empty string for none."""
        return [output.get("from", "") for output in self.spec["outputs"]]


def read_operator(folder: Path) -> OperatorText:
    spec = tomllib.loads((folder / "spec.toml").read_text(encoding="utf-8"))
    return OperatorText(
        name=folder.name,
        folder=folder,
        spec=spec,
        oracle=(folder / "oracle.py").read_text(encoding="utf-8"),
        reference=(folder / "reference.py").read_text(encoding="utf-8"),
    )


def all_operators() -> list[OperatorText]:
    folders = [
        path.parent
        for split in SPLITS
        for path in sorted((ROOT / "operators" / split).glob("*/spec.toml"))
    ]
    return [read_operator(folder) for folder in folders]
