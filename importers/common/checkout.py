"""Reads the checkout of a benchmark: its files, its revision and its licence.

    provenance_of(folder, "TritonBench-G").revision  # the commit, or ""
    text, problem = read_text(folder / "matmul.py")

No code of the checkout is executed, and no git command: its hooks and settings are untrusted."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

# The exit statuses of `assay` (docs/reference/cli.md).
BAD_DATA, NO_INPUT = 65, 66
MAX_FILE_BYTES = 4 << 20
SHOWN_NAMES = 8
LICENCE_FILES = ("LICENSE", "LICENSE.txt", "LICENSE.md", "LICENCE")
LICENCE_CHARS = 80


class BadFolder(Exception):
    """The folder cannot be imported. `status` is the exit status of the command."""

    def __init__(self, status: int, message: str) -> None:
        super().__init__(message)
        self.status = status


@dataclass(frozen=True)
class Provenance:
    """Where the files of a benchmark come from. A field is "" if the checkout does not say it."""

    benchmark: str
    revision: str  # the commit of the checkout
    licence: str  # the first line of the checkout's licence file


def provenance_of(folder: Path, benchmark: str) -> Provenance:
    return Provenance(benchmark, checkout_revision(folder), checkout_licence(folder))


def listed(names: list[str]) -> str:
    more = f" and {len(names) - SHOWN_NAMES} more" if len(names) > SHOWN_NAMES else ""
    return ", ".join(names[:SHOWN_NAMES]) + more


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
