"""Tests one submission in a fresh Python process, as other public harnesses do: imports, compiles,
runs and compares. measurements/skeleton.py compares the duration with Assay's.

    python measurements/fresh_process.py OPERATOR_DIR SUBMISSION DEVICE CASE...

For the given cases, this program does the same work as the tool `run_tests`: it makes inputs, runs
the submission and the reference, and compares the outputs. Exits with status 0 if all outputs are
correct."""

from __future__ import annotations

import importlib.util
import os
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

ROOT = Path(__file__).resolve().parent.parent


def load(path: Path, name: str) -> ModuleType:
    spec = importlib.util.spec_from_file_location(name, path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def main() -> int:
    operator_dir, submission, device, *case_ids = sys.argv[1:]
    if device == "cpu":
        os.environ["TRITON_INTERPRET"] = "1"
    sys.path.insert(0, str(ROOT / "sandbox"))
    import torch
    from harness.operator import Operator

    operator = Operator.load(Path(operator_dir))
    entry = getattr(load(Path(submission), "submission"), operator.spec["entry"])
    rows = {row["id"]: row for row in operator.spec["cases"]}
    for case_id in case_ids:
        case = operator.case(rows[case_id], device)
        arguments: Any = operator.inputs(case, int.from_bytes(os.urandom(7), "little"))
        expected = operator.expected(case, arguments)
        actual = entry(*arguments.values())
        actual = actual if isinstance(actual, tuple) else (actual,)
        for want, got in zip(expected, actual, strict=True):
            if (want.double() - got.double()).abs().max().item() > 0.01:
                return 1
    if device != "cpu":
        torch.cuda.synchronize()
    return 0


if __name__ == "__main__":
    sys.exit(main())
