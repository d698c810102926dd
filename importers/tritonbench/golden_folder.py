"""Reads a checkout of TritonBench: the files of a benchmark, and what its index says about them. The
code of the files is not executed here.

    files = golden_files(Path("data/TritonBench_G_v1"), [], TRITONBENCH_G)
    files[0].text  # or raises BadFolder, whose message says what is wrong and what helps"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "importers/common"))

from benchmark_file import GoldenFile  # noqa: E402
from checkout import (  # noqa: E402
    BAD_DATA,
    NO_INPUT,
    BadFolder,
    Provenance,
    listed,
    provenance_of,
    read_text,
)

DIFFICULTY = (
    3  # the difficulty of a file that is not in the index; 1 is the easiest and 5 the hardest
)
SEPARATOR = re.compile(r"^#{100,}[ \t]*$", re.MULTILINE)
NO_SEPARATOR = "it has no line of '#' characters between its two parts"


def prompt_of(key: str) -> Callable[[dict[str, Any]], str]:
    """Returns a function that returns this key of an index's entry."""
    return lambda entry: str(entry.get(key, ""))


@dataclass(frozen=True)
class Benchmark:
    """A benchmark whose files have two parts: a solution or a reference, and tests."""

    name: str
    command: str  # KIND of `assay import KIND`, and the name of the suite
    repository: str
    folder: str  # the folder of the files in a checkout of the repository
    index: str  # the name of the index in the folder's parent; the index may be missing
    index_keys: str  # what the entries of the index have, in words
    describe: Callable[[dict[str, Any]], str]  # the description that an entry of the index gives
    kind: str = "golden"  # of the import (golden_child.py)
    tried: str = ""  # the revision of the repository that the importer was tried with

    @property
    def where(self) -> str:
        return f"{self.folder} of {self.repository}"


TRITONBENCH_REVISION = "603e28a5050e8c268f6883a69709d477a272d49a"
GEAK_REVISION = "5761d2124f63a1e284adb36600b3035e962ee549"
TRITONBENCH_G = Benchmark(
    name="TritonBench-G",
    command="tritonbench-g",
    repository="thunlp/TritonBench",
    folder="data/TritonBench_G_v1",
    index="TritonBench_G_v1.json",
    index_keys="`file`, `comp_instru` and `difficulty`",
    describe=prompt_of("comp_instru"),
    tried=TRITONBENCH_REVISION,
)
GEAK_TRITONBENCH = Benchmark(
    name="TritonBench-modified (GEAK)",
    command="geak-tritonbench",
    repository="AMD-AIG-AIMA/GEAK-eval",
    folder="geak_eval/data/TritonBench/data/TritonBench_G_v1",
    index="TritonBench_G_comp_alpac_v1_fixed_with_difficulty.json",
    index_keys="`file`, `instruction` and `difficulty`",
    describe=prompt_of("instruction"),
    tried=GEAK_REVISION,
)
GEAK_ROCM = Benchmark(
    name="ROCm Triton Benchmark (GEAK)",
    command="geak-rocm",
    repository="AMD-AIG-AIMA/GEAK-eval",
    folder="geak_eval/data/ROCm/data/ROCm_v1",
    index="ROCm_eval_complex_instruct_v1.json",
    index_keys="`file` and `instruction`",
    describe=prompt_of("instruction"),
    tried=GEAK_REVISION,
)


def split(text: str) -> tuple[str, str]:
    """Returns the kernel part and the test part. The lines of the test part keep their numbers."""
    found = list(SEPARATOR.finditer(text))
    if not found:
        raise ValueError(f"the file cannot be split: {NO_SEPARATOR}")
    end = found[-1].end()
    return text[: found[-1].start()], "\n" * text.count("\n", 0, end) + text[end:]


def golden_files(
    folder: Path, only: list[str], benchmark: Benchmark = TRITONBENCH_G
) -> list[GoldenFile]:
    """Returns the files of the folder in the order of their names, or those that `only` names."""
    if not folder.is_dir():
        raise BadFolder(NO_INPUT, f"{folder} is not a folder; it is {benchmark.where}")
    names = sorted(path.name for path in folder.glob("*.py"))
    if not names:
        raise BadFolder(
            NO_INPUT, f"{folder} has no {benchmark.kind} file (*.py); {_where(folder, benchmark)}"
        )
    index = _index(folder, benchmark)
    if only:
        if unknown := sorted(set(only) - set(names)):
            raise BadFolder(NO_INPUT, f"{folder} has no {listed(unknown)}")
        names = [name for name in names if name in only]
    elif missing := sorted(set(index) - set(names)):
        raise BadFolder(
            NO_INPUT,
            f"{folder} has {len(names)} of the {len(index)} files that {index_path(folder, benchmark).name} "
            f"lists: {listed(missing)} missing. Complete the checkout (git checkout -- data), or "
            "import single files with --only FILE",
        )
    provenance = provenance_of(folder, benchmark.name)
    return [_read(folder / name, index.get(name, {}), provenance, benchmark) for name in names]


def _where(folder: Path, benchmark: Benchmark) -> str:
    """Returns a sentence that says where the files are."""
    parts = Path(benchmark.folder).parts
    for below in (Path(*parts[first:]) for first in range(len(parts))):
        if (folder / below).is_dir():
            return f"they are in {folder / below}"
    return f"it should be {benchmark.where}"


def index_path(folder: Path, benchmark: Benchmark) -> Path:
    """Returns where the benchmark's index lies, which has the files' prompts and difficulties."""
    return folder.resolve().parent / benchmark.index


def _index(folder: Path, benchmark: Benchmark) -> dict[str, dict[str, Any]]:
    """Returns the entries of the benchmark's index by file. The index is in the parent of the
    golden files' folder, and it may be missing."""
    path = index_path(folder, benchmark)
    try:
        entries = json.loads(path.read_text(encoding="utf-8"))
        return {str(entry["file"]): entry for entry in entries if entry.get("file")}
    except FileNotFoundError:
        return {}
    except (OSError, ValueError, TypeError, AttributeError) as error:
        raise BadFolder(
            BAD_DATA,
            f"{path} is not a list of objects with {benchmark.index_keys} "
            f"({type(error).__name__}: {error}); check it out again, or remove it to import without "
            "descriptions",
        ) from error


def _read(
    path: Path, entry: dict[str, Any], provenance: Provenance, benchmark: Benchmark
) -> GoldenFile:
    text, problem = read_text(path)
    if not problem and not SEPARATOR.search(text):
        problem = NO_SEPARATOR
    return GoldenFile(
        path.name,
        text,
        benchmark.describe(entry),
        _difficulty(entry.get("difficulty", DIFFICULTY)),
        provenance,
        problem,
        benchmark.kind,
    )


def _difficulty(value: Any) -> int:
    try:
        return min(5, max(1, int(value)))
    except (TypeError, ValueError):
        return DIFFICULTY
