"""Runs the test part of one golden file in a separate process, and records every call of the kernel
part. A golden file is TritonBench-G's own solution for one operator.

    python importers/tritonbench/golden_file.py FILE --target cuda:90 [--plans DIR]  # prints one JSON object

The two parts of the file have different roles. The *test part* has the role of the judge: it makes
real tensors and calls the functions of the kernel part. The tensors are on the CPU, although the
test part asks for a GPU. The *kernel part* has the role of the submission. The recorder runs each
call of the kernel part on fake tensors, as in a candidate, and makes one launch plan from it
(golden_kernel_part.py)."""

from __future__ import annotations

import argparse
import ast
import contextlib
import itertools
import json
import os
import signal
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from types import FrameType, ModuleType
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "sandbox"))

import torch  # noqa: E402
from golden_imports import parts_of  # noqa: E402
from golden_kernel_part import KernelPart  # noqa: E402
from harness.entry.errors import Source, describe  # noqa: E402
from harness.imported.test_parts import module_name, run_tests, stub_missing  # noqa: E402

TEST_CPU_S = 15.0  # of processor time, for each test of a test part that consists of tests
# The kinds of errors that the recorder raises.
REFUSALS = (
    "not_recordable",
    "compilation_error",
    "unsupported",
)


def run(
    path: Path,
    target: str,
    plans: Path | None,
    cache: Path | None,
    arithmetic: bool = True,
    kind: type[KernelPart] = KernelPart,
) -> dict[str, Any]:
    with tempfile.TemporaryDirectory(prefix="tritonbench-") as folder:
        return _run(
            path, folder, target, plans, cache or Path(folder) / "triton-cache", arithmetic, kind
        )


def _run(
    path: Path,
    folder: str,
    target: str,
    plans: Path | None,
    cache: Path,
    arithmetic: bool,
    kind: type[KernelPart],
) -> dict[str, Any]:
    stub_missing()
    parts = parts_of(path.read_text(encoding="utf-8"), target)
    kernel_text, test_text = parts.kernel, parts.test
    report: dict[str, Any] = {"file": path.name, "recorded": False, "calls": []}
    source = Source(kernel_text, os.path.join(folder, f"{path.stem}.py"))
    try:
        part = kind(kernel_text, source.path, target, plans, cache, arithmetic)
    except BaseException as error:
        return {**report, **_error_report(error, source, "import")}
    report["calls"] = part.calls
    _share_imports(part.module, test_text)
    # Some tests write files beside their own file.
    own_names = {
        "__name__": module_name(test_text),
        "__file__": os.path.join(folder, "test_part.py"),
    }
    names = {**part.names(), **own_names}
    try:
        with part.side:
            exec(compile(test_text, str(path), "exec", dont_inherit=True), names)
            if not part.calls:
                starts: list[int] = []
                with _limited_tests():
                    errors = run_tests(
                        names,
                        lambda _: starts.append(_begin_test(part)),
                        part.seen,
                        (_TestIsLong,),
                    )
                if errors and not part.seen():
                    raise errors[0]
                report["tests"] = [
                    end - start for start, end in itertools.pairwise([*starts, part.seen()])
                ]
    except BaseException as error:
        whole = Source(path.read_text(encoding="utf-8"), str(path))
        return {**report, **(_refused(part.calls) or _error_report(error, whole, "test part"))}
    failed = [call for call in part.calls if not call["recorded"]]
    # A call that failed counts as refused only if the recorder raised the error. The kernel part
    # may also raise an exception that the test part expects.
    refused = [call for call in failed if call["kind"] in REFUSALS]
    report["recorded"] = (
        any(call["recorded"] and not call.get("helper") for call in part.calls) and not refused
    )
    if not report["recorded"]:
        report.update(_refused(refused or failed))
    if not part.calls:
        report.update(
            stage="test part",
            kind="no_call",
            message="the test part called nothing of the kernel part",
            line=None,
            code="",
        )
    return report


class _TestIsLong(BaseException):
    """A test has run for TEST_CPU_S. Its later calls are left out."""


def _begin_test(part: KernelPart) -> int:
    signal.setitimer(signal.ITIMER_PROF, TEST_CPU_S)
    return part.seen()


@contextlib.contextmanager
def _limited_tests() -> Iterator[None]:
    """Limits the processor time of each test that begins with _begin_test(): without a GPU, a test
    may need minutes for large cases, which it compares with torch."""

    def ring(_signal: int, _frame: FrameType | None) -> None:
        raise _TestIsLong

    before = signal.signal(signal.SIGPROF, ring)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, before)


def _share_imports(module: ModuleType, test_text: str) -> None:
    """Gives the test part's imports to the kernel part. In the original file both parts are one
    module, so the kernel part's functions can use these imports."""
    imports = [
        node for node in ast.parse(test_text).body if isinstance(node, ast.Import | ast.ImportFrom)
    ]
    exec(compile(ast.Module(imports, []), module.__name__, "exec"), vars(module))


def _refused(calls: list[dict[str, Any]]) -> dict[str, Any]:
    """Returns the reason why the last unrecorded call was not recorded."""
    failed = [call for call in calls if not call["recorded"]]
    return (
        {"stage": "record", **{key: failed[-1][key] for key in ("kind", "message", "line", "code")}}
        if failed
        else {}
    )


def _error_report(error: BaseException, source: Source, stage: str) -> dict[str, Any]:
    report = describe(error, source, stage)
    return {key: report[key] for key in ("stage", "kind", "message", "line", "code", "traceback")}


def main() -> int:
    parser = argparse.ArgumentParser(
        description="Records every call that a golden file's test part makes of its kernel part."
    )
    parser.add_argument("file", type=Path)
    parser.add_argument("--target", default="cuda:90")
    parser.add_argument("--plans", type=Path, help="keep the plans and their inputs in this folder")
    parser.add_argument(
        "--cache", type=Path, help="keep compiled kernels in this folder, for the next run"
    )
    parser.add_argument(
        "--no-arithmetic",
        action="store_true",
        help="refuse arithmetic by torch, as for a scored submission",
    )
    arguments = parser.parse_args()
    torch.manual_seed(0)
    report = run(
        arguments.file,
        arguments.target,
        arguments.plans,
        arguments.cache,
        not arguments.no_arithmetic,
    )
    sys.stdout.write("\n" + json.dumps(report) + "\n")
    sys.stdout.flush()
    os._exit(0)  # a normal exit of the interpreter may crash on objects that a recording leaves


if __name__ == "__main__":
    main()
