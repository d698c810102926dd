"""Checks a kernel against a reference on this machine, with the program `assay`.

checked = assay.check("my.py:f", against="ref.py:f", inputs={"x": "f32[{n}]"}, sizes={"n": 1000})
assert checked.passed, checked.text"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from assay.errors import AssayError

NO_VERDICT = 64  # `assay` exits with a lower status if there is a verdict


@dataclass(frozen=True)
class CheckResult:
    """The verdict of a check. `verdict` is the document assay.verdict/2."""

    passed: bool
    text: str
    verdict: dict[str, Any] = field(default_factory=dict)


def program() -> str:
    """Returns the path of the program `assay`: ASSAY_BINARY, or the one in PATH."""
    found = os.environ.get("ASSAY_BINARY") or shutil.which("assay")
    if not found:
        raise AssayError("the program assay is not in PATH; set ASSAY_BINARY to its path")
    return found


def check(
    kernel: str,
    *,
    against: str,
    inputs: Mapping[str, str],
    sizes: Mapping[str, int] | None = None,
    options: tuple[str, ...] = (),
) -> CheckResult:
    """Checks FILE:FUNCTION `kernel` against FILE:FUNCTION `against`. `inputs` describes the
    arguments, and `sizes` gives their axes, as `assay check --help` explains. `options` are further
    options of the command."""
    command = [program(), "check", kernel, "--against", against]
    for name, form in inputs.items():
        command += ["--input", f"{name}={form}"]
    for name, size in (sizes or {}).items():
        command += [f"--{name}", str(size)]
    done = subprocess.run(
        [*command, "--json", *options], capture_output=True, text=True, check=False
    )
    if done.returncode >= NO_VERDICT or not done.stdout.strip():
        raise AssayError(done.stderr.strip() or f"assay check ended with {done.returncode}")
    document = json.loads(done.stdout)
    return CheckResult(document.get("outcome") == "pass", document.get("summary", ""), document)
