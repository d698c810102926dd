"""Tests `assay operators compiled`, which times each reference after torch.compile. The command
does so once for each device and revision, and keeps the times in the state folder."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent


def compiled(binary: str, folder: Path, *options: str) -> subprocess.CompletedProcess[str]:
    command = [binary, "operators", "--suite", str(folder / "suite"), "compiled", *options]
    environment = {**os.environ, "ASSAY_STATE_DIR": str(folder / "state")}
    return subprocess.run(command, env=environment, capture_output=True, text=True, timeout=300)


def test_a_reference_is_compiled_once(binary: str, tmp_path: Path) -> None:
    model = tmp_path / "suite/standard/vector_add"
    shutil.copytree(ROOT / "operators/standard/vector_add", model)
    first = compiled(binary, tmp_path, "--device", "cpu")
    assert first.returncode == 0, first.stderr
    # The command times each case that a grade times. It times no small case.
    lines = [line.split() for line in first.stdout.splitlines()]
    assert ["vector_add", "large"] in [line[:2] for line in lines]
    assert "small" not in [line[1] for line in lines]
    if " " in sys.prefix:  # PyTorch does not quote the path of its headers for the compiler
        assert all(" unsupported: " in line for line in first.stdout.splitlines()), first.stdout
    else:
        assert all(line[3] == "us" and float(line[2]) > 0 for line in lines), first.stdout
    (file,) = (path for path in (tmp_path / "state/torch_compile").rglob("*") if path.is_file())
    assert file.read_text().startswith("torch ")
    assert compiled(binary, tmp_path, "--device", "cpu").stdout == ""
    # A change of an operator makes its times invalid.
    reference = model / "reference.py"
    text = reference.read_text()
    refusing = (
        "if torch.compiler.is_compiling():\n        raise RuntimeError('no')\n    return x + y"
    )
    assert "return x + y" in text
    reference.write_text(text.replace("return x + y", refusing))
    again = compiled(binary, tmp_path, "--device", "cpu")
    assert again.returncode == 0, again.stderr
    assert again.stdout.splitlines()[0].startswith("vector_add ")
    assert all(" unsupported: " in line for line in again.stdout.splitlines())


def test_an_unknown_operator_is_refused(binary: str, tmp_path: Path) -> None:
    shutil.copytree(ROOT / "operators/standard/vector_add", tmp_path / "suite/standard/vector_add")
    done = compiled(binary, tmp_path, "nonsense")
    assert done.returncode != 0 and "nonsense" in done.stderr
