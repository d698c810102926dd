"""Reads a checkout of TritonBench: the files of a benchmark, and what its index says about them. The
code of the files is not executed here.

    files = golden_files(Path("data/TritonBench_G_v1"), [], TRITONBENCH_G)
    files[0].text  # or raises BadFolder, whose message says what is wrong and what helps"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Callable
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

# The exit statuses of `assay` (docs/reference/cli.md).
BAD_DATA, NO_INPUT = 65, 66
MAX_FILE_BYTES = 4 << 20
MAX_NAME_CHARS = 56  # 8 less than the limit of 64, because a number may be appended
DIFFICULTY = (
    3  # the difficulty of a file that is not in the index; 1 is the easiest and 5 the hardest
)
SHOWN_NAMES = 8
SEPARATOR = re.compile(r"^#{100,}[ \t]*$", re.MULTILINE)
NO_SEPARATOR = "it has no line of '#' characters between its two parts"
LICENCE_FILES = ("LICENSE", "LICENSE.txt", "LICENSE.md", "LICENCE")
LICENCE_CHARS = 80


class BadFolder(Exception):
    """The folder cannot be imported. `status` is the exit status of the command."""

    def __init__(self, status: int, message: str) -> None:
        super().__init__(message)
        self.status = status


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

    @property
    def where(self) -> str:
        return f"{self.folder} of {self.repository}"


TRITONBENCH_G = Benchmark(
    name="TritonBench-G",
    command="tritonbench-g",
    repository="thunlp/TritonBench",
    folder="data/TritonBench_G_v1",
    index="TritonBench_G_v1.json",
    index_keys="`file`, `comp_instru` and `difficulty`",
    describe=prompt_of("comp_instru"),
)
GEAK_TRITONBENCH = Benchmark(
    name="TritonBench-modified (GEAK)",
    command="geak-tritonbench",
    repository="AMD-AIG-AIMA/GEAK-eval",
    folder="geak_eval/data/TritonBench/data/TritonBench_G_v1",
    index="TritonBench_G_comp_alpac_v1_fixed_with_difficulty.json",
    index_keys="`file`, `instruction` and `difficulty`",
    describe=prompt_of("instruction"),
)
GEAK_ROCM = Benchmark(
    name="ROCm Triton Benchmark (GEAK)",
    command="geak-rocm",
    repository="AMD-AIG-AIMA/GEAK-eval",
    folder="geak_eval/data/ROCm/data/ROCm_v1",
    index="ROCm_eval_complex_instruct_v1.json",
    index_keys="`file` and `instruction`",
    describe=prompt_of("instruction"),
)


@dataclass(frozen=True)
class Provenance:
    """Where the golden files come from. A field is "" if the checkout does not say it."""

    benchmark: str
    revision: str  # the commit of the checkout
    licence: str  # the first line of the checkout's licence file


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


def split(text: str) -> tuple[str, str]:
    """Returns the kernel part and the test part. The lines of the test part keep their numbers."""
    found = list(SEPARATOR.finditer(text))
    if not found:
        raise ValueError(f"the file cannot be split: {NO_SEPARATOR}")
    end = found[-1].end()
    return text[: found[-1].start()], "\n" * text.count("\n", 0, end) + text[end:]


def operator_name(file: str) -> str:
    """Returns the name of the file's first operator. The others have a number appended."""
    name = re.sub(r"[^a-z0-9_]", "_", Path(file).stem.lower())[:MAX_NAME_CHARS]
    return name if name[:1].isalpha() else f"op_{name}"


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
            f"{folder} has {len(names)} of the {len(index)} files that {_index_path(folder, benchmark).name} "
            f"lists: {listed(missing)} missing. Complete the checkout (git checkout -- data), or "
            "import single files with --only FILE",
        )
    provenance = provenance_of(folder, benchmark.name)
    return [_read(folder / name, index.get(name, {}), provenance, benchmark) for name in names]


def provenance_of(folder: Path, benchmark: str) -> Provenance:
    return Provenance(benchmark, checkout_revision(folder), checkout_licence(folder))


def _where(folder: Path, benchmark: Benchmark) -> str:
    """Returns a sentence that says where the files are."""
    parts = Path(benchmark.folder).parts
    for below in (Path(*parts[first:]) for first in range(len(parts))):
        if (folder / below).is_dir():
            return f"they are in {folder / below}"
    return f"it should be {benchmark.where}"


def listed(names: list[str]) -> str:
    more = f" and {len(names) - SHOWN_NAMES} more" if len(names) > SHOWN_NAMES else ""
    return ", ".join(names[:SHOWN_NAMES]) + more


def _index_path(folder: Path, benchmark: Benchmark) -> Path:
    return folder.resolve().parent / benchmark.index


def _index(folder: Path, benchmark: Benchmark) -> dict[str, dict[str, Any]]:
    """Returns the entries of the benchmark's index by file. The index is in the parent of the
    golden files' folder, and it may be missing."""
    path = _index_path(folder, benchmark)
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


def read_text(path: Path) -> tuple[str, str]:
    """Returns the text of a benchmark's file, and why it cannot be read, or ""."""
    try:
        if not path.is_file() or path.is_symlink():
            return "", "it is not a regular file"
        if path.stat().st_size > MAX_FILE_BYTES:
            return "", f"it is larger than {MAX_FILE_BYTES >> 20} MiB"
        return path.read_text(encoding="utf-8"), ""
    except (OSError, UnicodeDecodeError) as error:
        return "", f"it cannot be read ({type(error).__name__}: {error})"


def _difficulty(value: Any) -> int:
    try:
        return min(5, max(1, int(value)))
    except (TypeError, ValueError):
        return DIFFICULTY


def _checkout(folder: Path) -> Path | None:
    """Returns the root of the git checkout that contains the folder."""
    resolved = folder.resolve()
    root = next((path for path in (resolved, *resolved.parents) if (path / ".git").exists()), None)
    return root if root and _tracks(root, resolved.relative_to(root)) else None


def _tracks(root: Path, folder: Path) -> bool:
    """Returns False if the checkout tracks no file of the folder. It is then a checkout of something
    else, such as Assay's own, in which the benchmark lies. Git's index has the paths of all files."""
    if folder == Path():
        return True
    try:
        return f"{folder.as_posix()}/".encode() in (_git_folder(root) / "index").read_bytes()
    except OSError:
        return False


def _git_folder(root: Path) -> Path:
    git = root / ".git"
    if git.is_file():  # a worktree or a submodule
        git = (root / git.read_text(encoding="utf-8").partition(":")[2].strip()).resolve()
    return git


def checkout_revision(folder: Path) -> str:
    """Returns the commit of the checkout, from the files of git."""
    root = _checkout(folder)
    if root is None:
        return ""
    try:
        git = _git_folder(root)
        head = (git / "HEAD").read_text(encoding="utf-8").strip()
        if not head.startswith("ref: "):
            return head
        reference = head.removeprefix("ref: ")
        common = git / "commondir"
        if common.is_file():
            git = (git / common.read_text(encoding="utf-8").strip()).resolve()
        if (git / reference).is_file():
            return (git / reference).read_text(encoding="utf-8").strip()
        for line in (git / "packed-refs").read_text(encoding="utf-8").splitlines():
            if line.endswith(f" {reference}"):
                return line.partition(" ")[0]
    except (OSError, UnicodeDecodeError):
        return ""
    return ""


def checkout_licence(folder: Path) -> str:
    root = _checkout(folder)
    for name in LICENCE_FILES if root else ():
        try:
            lines = (root / name).read_text(encoding="utf-8").splitlines()  # type: ignore[operator]
        except (OSError, UnicodeDecodeError):
            continue
        return next((line.strip()[:LICENCE_CHARS] for line in lines if line.strip()), "")
    return ""
