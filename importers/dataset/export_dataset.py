"""Implements `assay export dataset`: writes sources, public verdicts and transcripts as a dataset.

    # `assay export dataset` calls it; the input has one JSON object in each line
    python importers/dataset/export_dataset.py --input rows.jsonl --out DATASET --parquet

The first line of the input has the operators, and each other line a job or a transcript. The
dataset is written elsewhere, read back and compared, and then moved, so DATASET is complete as soon
as it exists."""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT / "python"))

from assay.datasets import DatasetError, read_dataset  # noqa: E402
from dataset_card import card  # noqa: E402
from dataset_files import NEEDS_PYARROW, TABLES, DatasetFiles, has_pyarrow  # noqa: E402
from dataset_rows import Rows  # noqa: E402
from redaction import Redactor  # noqa: E402

BAD_DATA, NO_INPUT, UNAVAILABLE, CANNOT_WRITE = 65, 66, 69, 73  # docs/reference/cli.md lists them
SHORTEST_VALUE = 4  # a shorter value would be found in the middle of words


class CannotExport(Exception):
    """`status` is the exit status of the command."""

    def __init__(self, status: int, message: str) -> None:
        super().__init__(message)
        self.status = status


def lines_of(path: Path) -> Iterator[dict[str, Any]]:
    with path.open(encoding="utf-8") as file:
        for line in file:
            yield json.loads(line)


def values_of(path: Path | None) -> list[str]:
    """Returns the values of --redact, one a line."""
    if path is None:
        return []
    try:
        values = [line.strip() for line in path.read_text(encoding="utf-8").splitlines()]
    except (OSError, UnicodeDecodeError) as error:
        raise CannotExport(NO_INPUT, f"--redact {path} cannot be read: {error}") from error
    for number, value in enumerate(values, start=1):
        if value and len(value) < SHORTEST_VALUE:
            raise CannotExport(
                BAD_DATA,
                f"--redact {path}:{number}: a value has at least {SHORTEST_VALUE} characters",
            )
    return [value for value in values if value]


def export(options: argparse.Namespace, folder: Path) -> dict[str, Any]:
    """Writes the dataset into the folder. Returns the manifest."""
    lines = lines_of(options.input)
    header = next(lines)
    redactor = Redactor(values_of(options.redact))
    rows = Rows(header, redactor, options.keep_duplicates)
    counts = {"unfinished": 0, "without a model": 0, "infrastructure": 0}
    for line in lines:
        if "job" in line:
            rows.add_job(line["job"])
        elif "transcript" in line:
            rows.add_transcript(line["transcript"])
        else:
            counts.update(line["left_out"])
    if not rows.verdicts and not rows.transcripts:
        why = "`assay runs` lists the runs of the store"
        if counts["without a model"]:
            why = (
                f"{counts['without a model']} jobs belong to runs in which no model answered, and "
                "--sources all exports them too"
            )
        raise CannotExport(NO_INPUT, f"there is no row to export: {why}")
    files = DatasetFiles(folder, options.parquet)
    tables = (list(rows.sources.values()), list(rows.verdicts.values()), rows.transcripts)
    for table, content in zip(TABLES, tables, strict=True):
        files.write(table, content)
    manifest = files.write_manifest(
        {
            "title": options.title,
            "assay": header["assay"],
            "created": header["created"],
            "licence": options.licence,
            "operator_licences": [
                {"licence": licence, "suite": suite, "verdicts": count}
                for licence, suites in sorted(rows.licences.items())
                for suite, count in sorted(suites.items())
            ],
            "redactions": dict(redactor.counts),
            "dropped": {
                "equal sources": rows.counts["equal sources"],
                "repeated verdicts": rows.counts["repeated verdicts"],
                **counts,
            },
        }
    )
    (folder / "README.md").write_text(card(manifest), encoding="utf-8")
    return manifest


def run(options: argparse.Namespace) -> None:
    out: Path = options.out
    if options.parquet and not has_pyarrow():
        raise CannotExport(UNAVAILABLE, NEEDS_PYARROW.format(python=sys.executable))
    if out.exists() and (not out.is_dir() or any(out.iterdir())):
        raise CannotExport(CANNOT_WRITE, f"{out} exists and is not empty; name a new folder")
    staging = out.with_name(f".{out.name}.staging-{os.getpid()}")
    try:
        staging.mkdir(parents=True)
        manifest = export(options, staging)
        for table in TABLES:  # what cannot be read back is not kept
            read = sum(1 for _ in read_dataset(staging).rows(table))
            if read != manifest["tables"][table]["rows"]:
                raise CannotExport(BAD_DATA, f"{table} was written, and {read} rows are read back")
        if out.exists():
            out.rmdir()
        os.replace(staging, out)
    except DatasetError as error:
        raise CannotExport(BAD_DATA, f"the dataset cannot be read back: {error}") from error
    except OSError as error:
        raise CannotExport(CANNOT_WRITE, f"{out} cannot be written: {error}") from error
    finally:
        with contextlib.suppress(OSError):
            shutil.rmtree(staging)
    rows = ", ".join(f"{manifest['tables'][table]['rows']} {table}" for table in TABLES)
    print(f"written: {rows}")
    redacted = ", ".join(
        f"{count} {kind}" for kind, count in sorted(manifest["redactions"].items())
    )
    print(f"redacted: {redacted or 'nothing of a known form'}")
    dropped = ", ".join(f"{count} {what}" for what, count in manifest["dropped"].items() if count)
    print(f"left out: {dropped or 'nothing'}")
    if not options.licence:
        print("the dataset has no licence; --licence names one, and README.md says what it covers")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--input", type=Path, required=True)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--title", default="Judged GPU kernels")
    parser.add_argument("--licence", default="")
    parser.add_argument("--redact", type=Path)
    parser.add_argument("--parquet", action="store_true")
    parser.add_argument("--keep-duplicates", action="store_true")
    try:
        run(parser.parse_args())
    except CannotExport as error:
        print(f"assay export dataset: {error}", file=sys.stderr)
        return error.status
    return 0


if __name__ == "__main__":
    sys.exit(main())
