"""Describes a file of a benchmark, as the importer sends it to the jail.

GoldenFile("matmul.py", text, description, 3, provenance).sha256
operator_name("Matmul-1.py")  # "matmul_1" """

from __future__ import annotations

import hashlib
import json
import re
from dataclasses import asdict, dataclass, field
from pathlib import Path

from checkout import Provenance

MAX_NAME_CHARS = 56  # 8 less than the limit of 64, because a number may be appended


@dataclass(frozen=True)
class GoldenFile:
    name: str
    text: str
    description: str  # the benchmark's prompt for a model, or ""
    difficulty: int
    provenance: Provenance
    problem: str = ""  # why the file cannot be read, or ""
    kind: str = "golden"  # of its import (golden_child.py)
    options: dict[str, int] = field(default_factory=dict)  # of its import

    @property
    def sha256(self) -> str:
        """A digest of everything that the operators are made from."""
        return hashlib.sha256(json.dumps(asdict(self)).encode()).hexdigest()


def operator_name(file: str) -> str:
    """Returns the name of the file's first operator. The others have a number appended."""
    name = re.sub(r"[^a-z0-9_]", "_", Path(file).stem.lower())[:MAX_NAME_CHARS]
    return name if name[:1].isalpha() else f"op_{name}"
