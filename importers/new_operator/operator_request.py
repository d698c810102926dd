"""Defines what `assay operators new` asks for, as the command writes it in JSON, and the error that
ends it.

    request = Request.read(json.loads(text))"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

# Exit statuses of the command (server/app/exit_status.h).
USAGE, BAD_DATA, NO_INPUT = 64, 65, 66


class Refused(Exception):
    """The operator cannot be written. The message is one line, and says what would be valid."""

    def __init__(self, message: str, status: int = USAGE) -> None:
        super().__init__(message)
        self.status = status


@dataclass(frozen=True)
class Input:
    """One argument of the operator. Sizes, bounds and values are products of numbers and axes, such
    as "2*n"; a bound may be ""."""

    name: str
    type: str  # tensor, int, float or bool
    dtype: str
    shape: tuple[str, ...]
    distribution: str
    low: str
    high: str
    value: str


@dataclass(frozen=True)
class FunctionInFile:
    file: Path
    function: str

    def source(self) -> str:
        try:
            return self.file.read_text(encoding="utf-8")
        except OSError as error:
            raise Refused(f"{self.file}: {error.strerror}", NO_INPUT) from error
        except UnicodeDecodeError as error:
            raise Refused(f"{self.file}: it is not a text in UTF-8", BAD_DATA) from error


@dataclass(frozen=True)
class Request:
    name: str
    split: str
    family: str
    difficulty: int
    summary: str
    description: str
    suite: Path
    kind: str  # elementwise, rows or matmul; "" if there is a reference
    reference: FunctionInFile | None
    oracle: FunctionInFile | None
    inputs: list[Input]
    axes: dict[str, list[int]]

    @classmethod
    def read(cls, found: dict[str, Any]) -> Request:
        def function(key: str) -> FunctionInFile | None:
            one = found[key]
            return FunctionInFile(Path(one["file"]), one["function"]) if one else None

        return cls(
            found["name"],
            found["split"],
            found["family"],
            found["difficulty"],
            found["summary"],
            found["description"],
            Path(found["suite"]),
            found["kind"],
            function("reference"),
            function("oracle"),
            [Input(**{**one, "shape": tuple(one["shape"])}) for one in found["inputs"]],
            {name: sorted(values) for name, values in found["axes"].items()},
        )
