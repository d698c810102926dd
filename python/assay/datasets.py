"""Reads a dataset that `assay export dataset` wrote.

dataset = read_dataset("kernels")      # the files are compared with their SHA-256
for row in dataset.verdicts():
    source = dataset.source_of(row)"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from assay.errors import AssayError

FORMAT = "assay.dataset/1"
TABLES = ("sources", "verdicts", "transcripts")

Row = dict[str, Any]


class DatasetError(AssayError):
    """The folder is no dataset of Assay, or a file of it has changed."""


@dataclass(frozen=True)
class Dataset:
    """A dataset whose files were compared with the manifest, dataset.json."""

    folder: Path
    manifest: dict[str, Any]
    _sources: dict[tuple[str, str], str] = field(default_factory=dict, repr=False)

    def rows(self, table: str) -> Iterator[Row]:
        """Reads the rows of a table one after another."""
        if table not in TABLES:
            raise DatasetError(f"no table {table!r}; valid: {', '.join(TABLES)}")
        path = self.folder / f"data/{table}.jsonl"
        with path.open(encoding="utf-8") as file:
            for number, line in enumerate(file, start=1):
                try:
                    row = json.loads(line)
                except ValueError as error:
                    raise DatasetError(f"{path}:{number}: {error}") from error
                yield row

    def sources(self) -> Iterator[Row]:
        return self.rows("sources")

    def verdicts(self) -> Iterator[Row]:
        return self.rows("verdicts")

    def transcripts(self) -> Iterator[Row]:
        return self.rows("transcripts")

    def source_of(self, verdict: Row) -> str:
        """Returns the source that a verdict judged."""
        if not self._sources:
            self._sources.update(
                ((row["operator"], row["source"]), row["text"]) for row in self.sources()
            )
        return self._sources[verdict["operator"], verdict["source"]]

    def table(self, table: str) -> Any:
        """Returns a table as pyarrow.Table, from the Parquet file. Needs pyarrow."""
        if table not in TABLES:
            raise DatasetError(f"no table {table!r}; valid: {', '.join(TABLES)}")
        path = self.folder / f"data/{table}.parquet"
        if not path.exists():
            raise DatasetError(f"{path} is missing; `assay export dataset --parquet` writes it")
        try:
            import pyarrow.parquet
        except ImportError as error:
            raise ImportError("Parquet needs pyarrow: pip install 'assay[dataset]'") from error
        return pyarrow.parquet.read_table(path)


def read_dataset(folder: str | Path) -> Dataset:
    """Opens a dataset, and compares each of its files with the manifest."""
    root = Path(folder)
    path = root / "dataset.json"
    try:
        manifest = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise DatasetError(f"{path} cannot be read: {error}") from error
    if not isinstance(manifest, dict) or manifest.get("format") != FORMAT:
        raise DatasetError(f"{path}: the format is not {FORMAT}")
    try:
        for table in TABLES:
            for file in manifest["tables"][table]["files"]:
                _compare(root, file)
    except (KeyError, TypeError) as error:
        raise DatasetError(f"{path} has not the tables {', '.join(TABLES)}") from error
    return Dataset(root, manifest)


def _compare(root: Path, file: dict[str, Any]) -> None:
    path = (root / str(file["path"])).resolve()
    if not path.is_relative_to(root.resolve()):
        raise DatasetError(f"{file['path']} is outside of the dataset")
    digest = hashlib.sha256()
    try:
        with path.open("rb") as content:
            while chunk := content.read(1 << 20):
                digest.update(chunk)
    except OSError as error:
        raise DatasetError(f"{path} cannot be read: {error}") from error
    if digest.hexdigest() != file["sha256"]:
        raise DatasetError(f"{path} has changed since it was written")
