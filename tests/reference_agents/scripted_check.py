"""Compares the scripted answers with the operators' references in Triton's interpreter.

    TRITON_INTERPRET=1 python scripted_check.py [NAME...]

This check is a separate program, because Triton chooses the interpreter when a kernel is decorated.
It prints one JSON object per operator: {"operator", "outcome", "detail", "seconds"}. The outcome is
the worst outcome of all cases: pass, wrong, no_compile or error. It is unsupported if the
operator's dialect has no interpreter."""

from __future__ import annotations

import importlib.util
import json
import re
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "sandbox"))

from harness.judging import compare  # noqa: E402
from harness.operator import Operator  # noqa: E402

SEED = 20261121
ANSWERS = ROOT / "reference_agents/llm/scripted"


def code_of(name: str) -> str:
    blocks = re.findall(
        r"^```python\n(.*?)^```$", (ANSWERS / f"{name}.md").read_text(), re.MULTILINE | re.DOTALL
    )
    assert len(blocks) == 1, f"{name}.md holds {len(blocks)} python blocks"
    return str(blocks[0])


def load(name: str, folder: Path) -> Any:
    path = folder / f"{name}.py"
    path.write_text(code_of(name))
    spec = importlib.util.spec_from_file_location(name, path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return getattr(module, name)


def run_case(operator: Operator, entry: Any, row: dict[str, Any]) -> tuple[str, str]:
    case = operator.case(row, "cpu")
    arguments = operator.inputs(case, SEED)
    expected = operator.expected(case, arguments)
    given = {
        name: value.clone() if hasattr(value, "clone") else value
        for name, value in arguments.items()
    }
    returned = entry(*given.values())
    rest = iter(
        () if returned is None else returned if isinstance(returned, tuple) else (returned,)
    )
    actual = [given[output.source] if output.source else next(rest) for output in operator.outputs]
    rules = [
        compare.Rule(
            o.name,
            operator.dtype_of(o.dtype, case),
            operator.output_shape(o, case),
            o.max_abs_error,
            operator.scale(o, case),
        )
        for o in operator.outputs
    ]
    result = compare.compare(rules, expected, actual, operator.in_float64(arguments))
    return ("pass", "") if result.ok else ("wrong", f"{case.id}: {result.text()}")


def check(name: str) -> dict[str, Any]:
    folder = next(ROOT.glob(f"operators/*/{name}"))
    operator = Operator.load(folder)
    cases = [row for row in operator.spec["cases"] if row["interpreter"]]
    started = time.perf_counter()
    outcome, detail = ("unsupported", "no case for the interpreter") if not cases else ("pass", "")
    with tempfile.TemporaryDirectory() as scratch:
        try:
            entry = load(name, Path(scratch))
            for row in cases:
                outcome, detail = run_case(operator, entry, row)
                if outcome != "pass":
                    break
        except SyntaxError as error:
            outcome, detail = "no_compile", f"line {error.lineno}: {error.msg}"
        except Exception as error:
            outcome = "no_compile" if type(error).__name__ == "InterpreterError" else "error"
            detail = f"{type(error).__name__}: {error}"
    return {
        "operator": name,
        "outcome": outcome,
        "detail": detail,
        "seconds": round(time.perf_counter() - started, 3),
    }


if __name__ == "__main__":
    for operator_name in sys.argv[1:] or sorted(path.stem for path in ANSWERS.glob("*.md")):
        print(json.dumps(check(operator_name)), flush=True)
