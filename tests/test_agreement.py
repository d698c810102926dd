"""Tests the comparison of verdicts from two devices: which fields the comparison uses, which
verdicts agree, and which cause the comparison gives for a difference."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "measurements"))
import agreement  # noqa: E402


def verdict(outcome: str, kind: str = "none", **more: Any) -> dict[str, Any]:
    return {"outcome": outcome, "error_kind": kind, **more}


PASS = verdict("pass")


@pytest.mark.parametrize(
    ("cpu", "gpu", "cause"),
    [
        (PASS, verdict("fail", "wrong_result"), "numerics"),
        (verdict("pass", skipped=1), verdict("fail", "wrong_result"), "skipped_case"),
        (PASS, verdict("error", "compilation_error"), "compiler"),
        (PASS, verdict("error", "gpu_fault"), "fault"),
        (verdict("error", "canary_violation"), PASS, "stray_access"),
        (verdict("error", "timeout"), PASS, "limit"),
        (verdict("fail", "unattributed"), PASS, "attribution"),
        (verdict("error", "type_error"), PASS, "exception"),
    ],
)
def test_a_disagreement_has_one_cause(cpu: dict[str, Any], gpu: dict[str, Any], cause: str) -> None:
    pair = agreement.Pair("op", cpu, gpu)
    assert pair.judged
    assert not pair.agrees
    assert agreement.cause_of(pair) == cause
    assert cause in agreement.CAUSES


@pytest.mark.parametrize(
    ("cpu", "gpu"),
    [
        (verdict("error", "unsupported"), PASS),
        (PASS, verdict("error", "internal_error")),
        (PASS, {"outcome": None, "error_kind": "cut"}),
        (verdict("error", "not_recordable"), verdict("pass", tier="host")),
    ],
)
def test_a_pair_that_a_device_did_not_judge_is_not_compared(
    cpu: dict[str, Any], gpu: dict[str, Any]
) -> None:
    assert not agreement.Pair("op", cpu, gpu).judged


def test_figures_and_page(tmp_path: Path) -> None:
    rows = [("a", PASS, PASS), ("b", verdict("fail", "wrong_result"), PASS), ("c", PASS, None)]
    for name, side in (("cpu", 1), ("gpu", 2)):
        lines = [{"id": row[0], "operator": "op", **row[side]} for row in rows if row[side]]
        text = "".join(json.dumps(line) + "\n" for line in lines)
        (tmp_path / name).write_text(text + '{"id": "cut')  # the last line is incomplete
    figures = agreement.figures_of(agreement.pairs_of([tmp_path / "cpu"], [tmp_path / "gpu"]))
    assert (figures["submissions"], figures["compared"], figures["agree"]) == (2, 2, 1)
    assert figures["agreement"] == 0.5
    page = agreement.page_of(figures, "About.")
    assert "| op | `b` | `numerics` | `wrong_result` | `none` |" in page
    assert "1 (50.00%)" in page


def test_files_of_other_programs_have_verdicts(tmp_path: Path) -> None:
    samples = [
        ["a:op", "op", "none", "done", 0.1, {}, 1.0],
        ["b:op", "op", "type_error", "run", 0.1, {"run": 3.0}, 1.0],
        ["c:op", "op", "none", "done", 0.1, {"run": 3.0}, 1.0],
    ]
    result = {"device": "cuda:0", "after": {"samples": samples}}
    (tmp_path / "gpu.json").write_text(json.dumps(result))
    generated = {"transforms": ["renamed"], "seed": 1, "operator": "op", "verdict": "pass:none"}
    not_sent = {"transforms": ["halved"], "seed": 1, "operator": "op", "outcome": "NOT_APPLICABLE"}
    (tmp_path / "cheats.jsonl").write_text(
        "".join(json.dumps(line) + "\n" for line in (generated, not_sent))
    )
    files = [tmp_path / "gpu.json", tmp_path / "cheats.jsonl"]
    figures = agreement.figures_of(agreement.pairs_of(files, files))
    assert (figures["compared"], figures["agree"], figures["agree_pass"]) == (4, 4, 3)
    tiers = {one["id"]: one.get("tier") for one in agreement.verdicts_of(files[0])}
    assert tiers == {"a:op": None, "b:op": None, "c:op": "host"}


def test_nothing_to_judge_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "tasks.jsonl").write_text('{"id": "a", "operator": "op", "code": ""}\n')
    (tmp_path / "gpu.jsonl").write_text("")
    options = ["--device", "cpu", "--out", str(tmp_path / "out.jsonl")]
    options += [
        "--answers",
        str(tmp_path / "tasks.jsonl"),
        "--also-in",
        str(tmp_path / "gpu.jsonl"),
    ]
    with pytest.raises(SystemExit, match="there is no submission to judge"):
        agreement.main(["judge", *options])
