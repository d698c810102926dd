"""Two ways to the same plan: recorded without a GPU, and captured as a CUDA graph on one. Both must see the same work."""

from __future__ import annotations

import importlib.util
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent.parent
for folder in (HERE, ROOT / "tests/cheats", ROOT / "tests/common", ROOT / "tests/sandbox/harness"):
    sys.path.insert(0, str(folder))

from cheat_file import honest_ones  # noqa: E402
from graph_agreement import differences  # noqa: E402
from plan_reader import read_plan  # noqa: E402

OPERATORS = {path.parent.name: path.parent for path in sorted((ROOT / "operators").glob("*/*/spec.toml"))}
HONEST = [case for case in honest_ones() if not case.refused]
SECONDS = 300


def side(mode: str, operator: Path, source: Path, out: Path, **env: str) -> dict[str, dict[str, object]]:
    python = os.environ.get("ASSAY_PYTHON", sys.executable)
    arguments = [python, str(HERE / "plan_sides.py"), mode, str(operator), str(source), str(out)]
    if mode == "record":
        arguments.append(target())
    done = subprocess.run(arguments, capture_output=True, text=True, timeout=SECONDS, env={**os.environ, **env})
    assert out.exists(), f"{mode}: exit status {done.returncode}\n{done.stdout[-2000:]}{done.stderr[-4000:]}"
    return json.loads(out.read_text())  # type: ignore[no-any-return]


def needs_tlx(source: Path) -> bool:
    """Its dialect is a fork of Triton, which this machine need not have; bench/tlx_plans.py brings such plans to a GPU."""
    return "extra.tlx" in source.read_text() and importlib.util.find_spec("triton.language.extra.tlx") is None


def target() -> str:
    query = ["nvidia-smi", "--query-gpu=compute_cap", "--format=csv,noheader", "--id=0"]
    return "cuda:" + subprocess.run(query, check=True, capture_output=True, text=True).stdout.strip().replace(".", "")


def compare(operator: Path, source: Path, folder: Path, may_refuse: bool) -> None:
    recorded = side("record", operator, source, folder / "recorded.json", CUDA_VISIBLE_DEVICES="")
    captured = side("capture", operator, source, folder / "captured.json")
    assert recorded and recorded.keys() == captured.keys()
    refused = {case: found["error"] for case, found in captured.items() if "error" in found}
    problems = {
        case: differences(read_plan(bytes.fromhex(str(recorded[case]["plan"]))), found)
        for case, found in captured.items()
        if case not in refused
    }
    assert not any(problems.values()), json.dumps(problems, indent=1)
    assert may_refuse or not refused, refused
    if refused:
        pytest.skip(f"a CUDA graph cannot capture it: {refused}")


@pytest.mark.gpu
@pytest.mark.parametrize("operator", OPERATORS)
def test_oracles(operator: str, tmp_path: Path) -> None:
    if needs_tlx(OPERATORS[operator] / "oracle.py"):
        pytest.skip("this Triton has no TLX")
    compare(OPERATORS[operator], OPERATORS[operator] / "oracle.py", tmp_path, may_refuse=False)


@pytest.mark.gpu
@pytest.mark.parametrize("case", HONEST, ids=lambda case: case.name)
def test_honest_submissions(case: object, tmp_path: Path) -> None:
    source = tmp_path / "submission.py"
    source.write_text(case.source())  # type: ignore[attr-defined]
    compare(OPERATORS[case.operator], source, tmp_path, may_refuse=True)  # type: ignore[attr-defined]
