"""Writes the tables of a dataset as JSON lines and, if wanted, as Parquet, and the manifest.

    files = DatasetFiles(folder, parquet=True)
    files.write("sources", rows)
    files.write_manifest({"assay": "0.1.0"})

The folder then has data/sources.jsonl, data/sources.parquet and dataset.json. Parquet needs
pyarrow."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

FORMAT = "assay.dataset/1"
TABLES = ("sources", "verdicts", "transcripts")
ROWS_OF_A_GROUP = 10_000  # of a Parquet file
NEEDS_PYARROW = (
    "Parquet needs the package pyarrow in the Python of the jobs: {python} -m pip install pyarrow; "
    "without --parquet, JSON lines are written"
)

TEXT, WHOLE, REAL, YES_NO, TEXTS, STEPS = "text", "whole", "real", "yes_no", "texts", "steps"
# The columns of each table with their types, in the order of the files.
COLUMNS: dict[str, dict[str, str]] = {
    "sources": {
        "source": TEXT,
        "operator": TEXT,
        "language": TEXT,
        "text": TEXT,
        "normal": TEXT,
        "redacted": YES_NO,
        "operator_licence": TEXT,
        "models": TEXTS,
    },
    "verdicts": {
        **dict.fromkeys(("job", "run", "agent", "model", "track"), TEXT),
        **dict.fromkeys(("operator", "split", "family", "dialect"), TEXT),
        "difficulty": WHOLE,
        **dict.fromkeys(("operator_licence", "suite", "suite_version"), TEXT),
        "suite_number": WHOLE,
        **dict.fromkeys(("kind", "device", "finished", "source", "language"), TEXT),
        **dict.fromkeys(("outcome", "error_kind", "stage", "summary"), TEXT),
        "cases": WHOLE,
        "cases_passed": WHOLE,
        "perf": REAL,
        "tier": TEXT,
        "repeats": WHOLE,
        "verdict": TEXT,
    },
    "transcripts": {
        "run": TEXT,
        "operator": TEXT,
        "sample": WHOLE,
        **dict.fromkeys(("agent", "model", "outcome", "error_kind"), TEXT),
        "cost_usd": REAL,
        "left_out": WHOLE,
        "steps": STEPS,
    },
}


def has_pyarrow() -> bool:
    try:
        import pyarrow.parquet  # noqa: F401
    except ImportError:
        return False
    return True


def schema_of(table: str) -> Any:
    """Returns the schema of a table for pyarrow."""
    import pyarrow as pa

    text = pa.string()
    step = pa.struct([(name, text) for name in ("kind", "tool", "text", "data")])
    types = {
        TEXT: text,
        WHOLE: pa.int64(),
        REAL: pa.float64(),
        YES_NO: pa.bool_(),
        TEXTS: pa.list_(text),
        STEPS: pa.list_(step),
    }
    return pa.schema([(name, types[kind]) for name, kind in COLUMNS[table].items()])


def clean(text: str) -> str:
    """Replaces what is no text in UTF-8, which neither format can hold."""
    return text.encode("utf-8", "replace").decode("utf-8")


class DatasetFiles:
    def __init__(self, folder: Path, parquet: bool) -> None:
        self._folder = folder
        self._parquet = parquet
        self._tables: dict[str, Any] = {}
        (folder / "data").mkdir(parents=True, exist_ok=True)

    def write(self, table: str, rows: Sequence[dict[str, Any]]) -> None:
        """Writes the rows, which have the columns of the table."""
        files = [f"data/{table}.jsonl"]
        with (self._folder / files[0]).open("w", encoding="utf-8") as file:
            for row in rows:
                ordered = {name: row[name] for name in COLUMNS[table]}
                file.write(clean(json.dumps(ordered, allow_nan=False, ensure_ascii=False)) + "\n")
        if self._parquet:
            files.append(f"data/{table}.parquet")
            self._write_parquet(table, rows, self._folder / files[1])
        self._tables[table] = {"rows": len(rows), "files": [self._described(one) for one in files]}

    def _write_parquet(self, table: str, rows: Sequence[dict[str, Any]], path: Path) -> None:
        import pyarrow as pa
        import pyarrow.parquet as pq

        schema = schema_of(table)
        with pq.ParquetWriter(path, schema, compression="zstd") as writer:
            for begin in range(0, max(len(rows), 1), ROWS_OF_A_GROUP):
                part = rows[begin : begin + ROWS_OF_A_GROUP]
                cleaned = [json.loads(clean(json.dumps(row, ensure_ascii=False))) for row in part]
                writer.write_table(pa.Table.from_pylist(cleaned, schema=schema))

    def _described(self, name: str) -> dict[str, Any]:
        path = self._folder / name
        with path.open("rb") as file:
            digest = hashlib.sha256()
            while chunk := file.read(1 << 20):
                digest.update(chunk)
        return {"path": name, "bytes": path.stat().st_size, "sha256": digest.hexdigest()}

    def write_manifest(self, facts: dict[str, Any]) -> dict[str, Any]:
        """Writes dataset.json with these facts and the tables. Returns its content."""
        manifest = {"format": FORMAT, **facts, "tables": self._tables}
        text = json.dumps(manifest, indent=2, ensure_ascii=False)
        (self._folder / "dataset.json").write_text(text + "\n", encoding="utf-8")
        return manifest
