"""Implements `assay export flashinfer-trace`: writes operators, submissions and verdicts as a FlashInfer
Trace dataset, which FlashInfer-Bench reads.

    # `assay export` calls it; the input has the operators, and the jobs with their public verdicts
    python importers/flashinfer/export_flashinfer.py --input jobs.json --out DATASET

The dataset is written elsewhere and then moved, so DATASET is complete as soon as it exists."""

from __future__ import annotations

import argparse
import collections
import contextlib
import json
import os
import shutil
import sys
from pathlib import Path
from typing import Any

from export_definition import Exported, all_definitions
from export_trace import safe_name, solution_of, traces_of
from trace_tensors import INSTALL

CANNOT_WRITE, UNAVAILABLE = 73, 69  # exit statuses of `assay` (docs/reference/cli.md)
DEFAULT_TENSOR_MIB = 64
SHOWN_REASONS = 20


class CannotExport(Exception):
    """`status` is the exit status of the command."""

    def __init__(self, status: int, message: str) -> None:
        super().__init__(message)
        self.status = status


class Writer:
    """Writes the files of a dataset below `folder`."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self.counts: collections.Counter[str] = collections.Counter()

    def definition(self, made: Exported) -> None:
        document = made.document
        place = f"{safe_name(document['op_type'])}/{safe_name(document['name'])}"
        for path, tensors in made.tensors.items():
            self._tensors(path, tensors)
        self._json(f"definitions/{place}.json", document)
        lines = [
            {"definition": document["name"], "workload": one, "solution": None, "evaluation": None}
            for one in made.workloads
        ]
        self._lines(f"workloads/{place}.jsonl", lines)
        self.counts["definitions"] += 1
        self.counts["workloads"] += len(lines)

    def job(self, job: dict[str, Any], made: Exported) -> int:
        """Returns the number of traces."""
        document = made.document
        solution = solution_of(job, made)
        kind, name = safe_name(document["op_type"]), safe_name(document["name"])
        place = f"{solution['author']}/{kind}/{name}"
        self._json(f"solutions/{place}/{safe_name(solution['name'])}.json", solution)
        traces = list(traces_of(job, made, solution["name"]))
        if traces:
            self._lines(f"traces/{place}.jsonl", traces)
        self.counts["solutions"] += 1
        self.counts["traces"] += len(traces)
        return len(traces)

    def _open(self, name: str, mode: str) -> Any:
        path = self._folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        return open(path, mode, encoding="utf-8")

    def _json(self, name: str, document: dict[str, Any]) -> None:
        with self._open(name, "w") as file:
            file.write(json.dumps(document, indent=2, allow_nan=False) + "\n")

    def _lines(self, name: str, documents: list[dict[str, Any]]) -> None:
        with self._open(name, "a") as file:
            for one in documents:
                file.write(json.dumps(one, allow_nan=False) + "\n")

    def _tensors(self, name: str, tensors: dict[str, Any]) -> None:
        try:
            from safetensors.torch import load_file, save_file
        except ImportError as error:
            raise CannotExport(
                UNAVAILABLE, f"the workloads have tensors, which need safetensors; {INSTALL}"
            ) from error
        path = (self._folder / name).resolve()
        if not path.is_relative_to(self._folder.resolve()):
            raise CannotExport(CANNOT_WRITE, f"{name} is outside of the dataset")
        path.parent.mkdir(parents=True, exist_ok=True)
        known = load_file(str(path)) if path.exists() else {}  # another definition's tensors
        save_file({**known, **tensors}, str(path))
        self.counts["files of tensors"] += not known


def export(request: dict[str, Any], folder: Path, max_tensor_bytes: int) -> list[str]:
    """Writes the dataset. Returns lines that say what was written and what was not."""
    writer = Writer(folder)
    by_operator: dict[str, list[Exported]] = {}
    left_out: list[str] = []
    for name, definitions, why in all_definitions(request["operators"], max_tensor_bytes):
        if why:
            left_out.append(f"{name}: {why}")
        by_operator[name] = definitions
        for made in definitions:
            left_out += made.left_out
            writer.definition(made)
    silent = 0
    for job in request["jobs"]:
        written = sum(writer.job(job, made) for made in by_operator[job["operator"]])
        silent += written == 0 and bool(by_operator[job["operator"]])
    counted = ", ".join(f"{count} {what}" for what, count in writer.counts.items())
    lines = [f"written: {counted or 'nothing'}"]
    if silent:
        lines.append(
            f"{silent} solutions without a trace: their verdict is not about a public case, or is a "
            "pass without a time (a trace that passed needs one, so a GPU must have judged it)"
        )
    lines += [f"not exported: {reason}" for reason in left_out[:SHOWN_REASONS]]
    if len(left_out) > SHOWN_REASONS:
        lines.append(f"not exported: {len(left_out) - SHOWN_REASONS} more")
    return lines


def run(options: argparse.Namespace) -> None:
    out: Path = options.out
    if out.exists() and (not out.is_dir() or any(out.iterdir())):
        raise CannotExport(CANNOT_WRITE, f"{out} exists and is not empty; name a new folder")
    request = json.loads(options.input.read_text(encoding="utf-8"))
    staging = out.with_name(f".{out.name}.staging-{os.getpid()}")
    try:
        staging.mkdir(parents=True)
        lines = export(request, staging, options.tensor_mib << 20)
        if out.exists():
            out.rmdir()
        os.replace(staging, out)
    except OSError as error:
        raise CannotExport(CANNOT_WRITE, f"{out} cannot be written: {error}") from error
    finally:
        with contextlib.suppress(OSError):
            shutil.rmtree(staging)
    for text in lines:
        print(text)


def main() -> int:
    parser = argparse.ArgumentParser(description="Writes a FlashInfer Trace dataset.")
    parser.add_argument("--input", type=Path, required=True)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--tensor-mib", type=int, default=DEFAULT_TENSOR_MIB)
    options = parser.parse_args()
    try:
        run(options)
    except CannotExport as error:
        print(f"assay export flashinfer-trace: {error}", file=sys.stderr)
        return error.status
    return 0


if __name__ == "__main__":
    sys.exit(main())
