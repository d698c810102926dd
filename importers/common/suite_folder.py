"""The folder of an imported suite. Each file's operators and its report are written as soon as the
file is imported, so an import that ends early goes on where it stopped.

    with SuiteFolder(Path("suite"), settings, SuiteName("tritonbench-g", "603e28a")) as suite:
        if not suite.has(golden):
            suite.keep(golden, result)

`suite.toml` contains the suite's name and version, and `import.json` the reports of all files. An
operator's folder is complete as soon as it exists, because it is written elsewhere and then moved.
One importer at a time may use the folder. Thread-safe after __enter__()."""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
import shutil
import sys
import threading
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

from import_exchange import Result

CANNOT_WRITE = 73  # an exit status of `assay` (docs/reference/cli.md)
BAD_DATA = 65
REPORTS, STAGING, LOCK = "import.json", ".staging", ".lock"
NAME = "suite.toml"  # operators/catalog.cc reads it
LIMITED = ("timeout", "memory_limit")  # kinds of failures that larger limits may end


@dataclass(frozen=True)
class SuiteName:
    name: str
    version: str  # the revision of the benchmark, or ""


class ImportedFile(Protocol):
    """A file of the benchmark."""

    @property
    def name(self) -> str: ...
    @property
    def sha256(self) -> str:
        """A digest of everything that the operators are made from."""


class UnusableSuite(Exception):
    """The folder cannot be used. `status` is the exit status of the command."""

    def __init__(self, status: int, message: str) -> None:
        super().__init__(message)
        self.status = status


class SuiteFolder:
    def __init__(
        self,
        folder: Path,
        settings: dict[str, Any],
        name: SuiteName,
        limits: dict[str, Any] | None = None,
        belongs: Callable[[str], bool] = lambda file: True,
    ) -> None:
        """`belongs` says whether a file of an earlier import is one that this import replaces or
        removes. Other files stay in the folder.
        `settings` are what the operators depend on besides their file, such as the target. Files
        that were imported with other settings are imported again. So are files that reached a
        limit, if `limits` are others now."""
        self.folder = folder
        self._settings = settings
        self._name = name
        self._limits = limits or {}
        self._belongs = belongs
        self._lock = threading.Lock()
        self._reports: dict[str, dict[str, Any]] = {}

    def __enter__(self) -> SuiteFolder:
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
            if not (self.folder / REPORTS).exists() and self._foreign():
                raise UnusableSuite(
                    CANNOT_WRITE,
                    f"{self.folder} has files, but no {REPORTS} of an import; name a new folder",
                )
            self._lock_file = open(self.folder / LOCK, "w")
            fcntl.flock(self._lock_file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            shutil.rmtree(self.folder / STAGING, ignore_errors=True)
            (self.folder / STAGING).mkdir()
            earlier = self._earlier()
            if self._has_another_version():
                self._refuse_mixture(earlier)
                for report in earlier:
                    self._remove(report["operators"])
                earlier = []
                self._write_reports()
            self._write_name()
        except BlockingIOError as error:
            raise UnusableSuite(
                CANNOT_WRITE, f"another import writes to {self.folder}; wait for its end"
            ) from error
        except OSError as error:
            raise UnusableSuite(
                CANNOT_WRITE, f"{self.folder} cannot be written: {error}"
            ) from error
        self._reports = {report["file"]: report for report in earlier}
        return self

    def __exit__(self, *_: object) -> None:
        shutil.rmtree(self.folder / STAGING, ignore_errors=True)
        self._lock_file.close()

    def has(self, golden: ImportedFile) -> bool:
        """Returns True if an earlier import has finished this file, from the same text and with the
        same settings."""
        report = self._reports.get(golden.name)
        return (
            report is not None
            and report.get("sha256") == golden.sha256
            and report.get("settings") == self._settings
            and (report.get("kind") not in LIMITED or report.get("limits") == self._limits)
            and all(self._operator(one["name"]).is_dir() for one in report["operators"])
        )

    def report(self, name: str) -> dict[str, Any]:
        return self._reports[name]

    def forget_others(self, names: set[str], prefix: str = "") -> None:
        """Removes files that are no longer in the benchmark's folder, with their operators. Files
        whose names have another prefix stay."""
        for name in {name for name in self._reports if name.startswith(prefix)} - names:
            self._remove(self._reports.pop(name)["operators"])
        self._write_reports()

    def keep(self, golden: ImportedFile, result: Result) -> dict[str, Any]:
        """Writes the operators and the report of a file in place of those of an earlier import.
        Returns the report."""
        report = {"file": golden.name, **result.report}
        report.update(sha256=golden.sha256, settings=self._settings, limits=self._limits)
        with self._lock:
            self._remove(self._reports.get(golden.name, {}).get("operators", []))
            for one in report["operators"]:
                staged = self.folder / STAGING / one["name"]
                staged.mkdir()
                for (operator, file), data in result.parts.items():
                    if operator == one["name"]:
                        (staged / file).write_bytes(data)
                self._operator(one["name"]).parent.mkdir(exist_ok=True)
                shutil.rmtree(self._operator(one["name"]), ignore_errors=True)
                os.replace(staged, self._operator(one["name"]))
            self._reports[golden.name] = report
            self._write_reports()
        return report

    def _operator(self, name: str) -> Path:
        return self.folder / "standard" / name

    def _remove(self, operators: list[dict[str, Any]]) -> None:
        for one in operators:
            shutil.rmtree(self._operator(one["name"]), ignore_errors=True)

    def _foreign(self) -> list[str]:
        return [
            path.name for path in self.folder.iterdir() if path.name not in (LOCK, STAGING, NAME)
        ]

    def _earlier(self) -> list[dict[str, Any]]:
        path = self.folder / REPORTS
        try:
            files = json.loads(path.read_text(encoding="utf-8"))["files"]
            for report in files:
                file = Path(report["file"])  # a name, or a path below the benchmark's folder
                if file.is_absolute() or ".." in file.parts:
                    raise ValueError(f"{file} is not a name")
                for name in (one["name"] for one in report["operators"]):
                    if Path(name).name != name:  # it is a folder of the suite
                        raise ValueError(f"{name} is not a name")
            return list(files)
        except FileNotFoundError:
            return []
        except (OSError, ValueError, KeyError, TypeError) as error:
            raise UnusableSuite(
                BAD_DATA, f"{path} is damaged ({error}); name a new folder, or remove this one"
            ) from error

    def _has_another_version(self) -> bool:
        return (
            bool(self._version() and self._name.version) and self._version() != self._name.version
        )

    def _version(self) -> str:
        """Returns the version of the suite that is in the folder, or an empty text."""
        if not (self.folder / NAME).is_file():
            return ""
        try:
            about = tomllib.loads((self.folder / NAME).read_text(encoding="utf-8"))
        except tomllib.TOMLDecodeError as error:
            raise UnusableSuite(
                BAD_DATA, f"{self.folder / NAME} is damaged ({error}); name a new folder"
            ) from error
        return str(about.get("version", ""))

    def _refuse_mixture(self, earlier: list[dict[str, Any]]) -> None:
        """A suite has the files of one revision, because its version says which."""
        staying = [one["file"] for one in earlier if not self._belongs(one["file"])]
        if staying:
            raise UnusableSuite(
                BAD_DATA,
                f"{self.folder} has {len(staying)} files of revision {self._version()}, and this "
                f"checkout is of revision {self._name.version}; check {self._version()} out, or "
                f"name a new folder",
            )

    def _write_name(self) -> None:
        text = f"name = {json.dumps(self._name.name)}\n"
        text += f"version = {json.dumps(self._name.version)}\n" if self._name.version else ""
        (self.folder / STAGING / NAME).write_text(text, encoding="utf-8")
        os.replace(self.folder / STAGING / NAME, self.folder / NAME)

    def _write_reports(self) -> None:
        known = [self._reports[name] for name in sorted(self._reports)]
        text = json.dumps({**self._settings, "files": known}, indent=1) + "\n"
        staged = self.folder / STAGING / REPORTS
        with contextlib.suppress(FileNotFoundError):
            staged.unlink()
        staged.write_text(text, encoding="utf-8")
        os.replace(staged, self.folder / REPORTS)
