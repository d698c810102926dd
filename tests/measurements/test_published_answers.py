"""Tests the tasks and the table of published answers on a small checkout in TritonBench's format."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT / "measurements/suites"))

from published_answers import (  # noqa: E402
    GOLDEN,
    SEPARATOR,
    answer_id,
    answers_of,
    code_of,
    operators_of,
    row_of,
    tasks,
    verdicts_of,
    wilson,
)

ADD, NEGATE = "def add(x, y): return x + y", "def negate(x): return -x"
PASSES, FAILS = "add = right", "add = wrong"


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """Two golden files, and two sets of answers. `add` has two operators, `negate` has none."""
    golden = tmp_path / "checkout" / GOLDEN
    golden.mkdir(parents=True)
    for name, text in (("add.py", ADD), ("negate.py", NEGATE)):
        (golden / name).write_text(f"\n{text}\n\n{SEPARATOR}\n\nprint(1)\n")
    sets = tmp_path / "checkout/LLM_generated/Bench_G_general"
    sets.mkdir(parents=True)
    for name, replies in (
        ("first", [(ADD, f"Here it is:\n```python\n{PASSES}\n```\nDone."), (NEGATE, "no idea")]),
        ("second", [(ADD, PASSES), (ADD, FAILS)]),
    ):
        lines = [
            json.dumps({"label": f"\n{label}\n", "predict": reply}) for label, reply in replies
        ]
        (sets / f"{name}.jsonl").write_text("\n".join(lines) + "\n")
    return tmp_path / "checkout"


@pytest.fixture
def suite(tmp_path: Path) -> Path:
    files = [
        {"file": "add.py", "operators": [{"name": "add"}, {"name": "add_2"}]},
        {"file": "negate.py", "operators": []},
    ]
    (tmp_path / "suite").mkdir()
    (tmp_path / "suite/import.json").write_text(json.dumps({"files": files}))
    return tmp_path / "suite"


def result_of(folder: Path, kinds: dict[tuple[str, str], str]) -> Path:
    """Writes a result of answers.py. `kinds` has the kind of error by code and operator."""
    samples: list[list[Any]] = [
        [f"{answer_id('add.py', code)}:{operator}", operator, kind, "done", 0.1, {}, 1.0]
        for (code, operator), kind in kinds.items()
    ]
    environment = {"gpu": "NVIDIA H200, 580", "triton": "3.6.0"}
    path = folder / "result.json"
    path.write_text(json.dumps({"environment": environment, "after": {"samples": samples}}))
    return path


def test_the_code_of_a_reply_is_its_longest_block() -> None:
    assert code_of("x\n```\na\n```\ny\n```python\nlong = 1\n```\nz") == "long = 1"
    assert code_of("```python\ncut off") == "cut off"
    assert code_of("no fence") == "no fence"


def test_equal_answers_are_one_task_for_each_operator(checkout: Path, suite: Path) -> None:
    found = tasks(checkout, suite)
    assert [(one["operator"], one["code"]) for one in found if one["code"] == PASSES] == [
        ("add", PASSES),
        ("add_2", PASSES),
    ]
    assert len(found) == 4
    assert tasks(checkout, suite) == found


def test_an_answer_is_judged_if_each_operator_has_a_verdict(
    checkout: Path, suite: Path, tmp_path: Path
) -> None:
    kinds = {
        (PASSES, "add"): "none",
        (PASSES, "add_2"): "none",
        (FAILS, "add"): "none",
        (FAILS, "add_2"): "wrong_result",
    }
    answers, operators = answers_of(checkout), operators_of(suite)
    verdicts = verdicts_of([result_of(tmp_path, kinds)])
    assert row_of(answers["general/first"], operators, verdicts) == {
        "answers": 2,
        "evaluable": 1,
        "judged": 1,
        "call": 1,
        "passed": 1,
    }
    second = row_of(answers["general/second"], operators, verdicts)
    assert (second["judged"], second["call"], second["passed"]) == (2, 2, 1)


def test_trouble_of_the_server_is_no_verdict(checkout: Path, suite: Path, tmp_path: Path) -> None:
    kinds = {(PASSES, "add"): "none", (PASSES, "add_2"): "internal_error"}
    verdicts = verdicts_of([result_of(tmp_path, kinds)])
    first = row_of(answers_of(checkout)["general/first"], operators_of(suite), verdicts)
    assert "judged" not in first


def test_the_page_has_a_row_for_each_set(checkout: Path, suite: Path, tmp_path: Path) -> None:
    kinds = {(PASSES, "add"): "none", (PASSES, "add_2"): "type_error"}
    command = [sys.executable, str(ROOT / "measurements/suites/published_answers.py"), "table"]
    page = tmp_path / "page.md"
    command += [str(checkout), "--suite", str(suite), "--out", str(page)]
    subprocess.run([*command, str(result_of(tmp_path, kinds))], check=True)
    text = page.read_text()
    assert "| `general/first` | 2 | 1 | 1 | 0.0 (0.0 to 79.3) | 0.0 (0.0 to 79.3) |" in text
    assert "| `type_error` | 1 | 50.0 % |" in text
    (missing,) = re.findall(r"(\d+) of the tasks have no verdict", text)
    assert int(missing) == len(tasks(checkout, suite)) - len(kinds)


def test_the_interval_is_wilsons() -> None:
    low, high = wilson(20, 100)
    assert (round(low, 1), round(high, 1)) == (13.3, 28.9)


def test_a_folder_that_is_no_checkout_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(SystemExit, match="want a checkout of TritonBench"):
        answers_of(tmp_path)
