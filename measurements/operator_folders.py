"""Finds the folders of Assay's own operators."""

from __future__ import annotations

from collections.abc import Collection
from pathlib import Path

OPERATORS = Path(__file__).resolve().parent.parent / "operators"


def operator_folders(names: Collection[str] = ()) -> list[Path]:
    """Returns the folders of the named operators, or of all operators if `names` is empty."""
    folders = sorted(path.parent for path in OPERATORS.glob("*/*/spec.toml"))
    return [folder for folder in folders if not names or folder.name in names]
