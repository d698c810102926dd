"""Tests what the judge does before and after a job has the GPU alone: inputs that are drawn ahead,
and outputs that are set aside."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Any

import pytest
import torch

sys.path.insert(0, os.path.dirname(os.path.dirname(__file__)))
from harness.judging import timed_rounds
from harness.judging.case_state import CaseState
from judge_client import SPEC, write_operator
from test_shared_buffers import Conversation

FREE = SPEC.replace('role = "structural"', 'role = "input"')
CASE = {"job": "job_1", "case": "first"}


@pytest.fixture
def talk() -> Conversation:
    return Conversation()


@pytest.fixture
def case(talk: Conversation, tmp_path: Path) -> dict[str, Any]:
    found: dict[str, Any] = talk.prepare(write_operator(tmp_path / "op", spec=FREE), "job_1").header
    first: dict[str, Any] = found["cases"][0]
    return first


def state_of(talk: Conversation) -> CaseState:
    return talk.judge._jobs["job_1"]["first"]


def refresh(talk: Conversation) -> str:
    return str(talk.ask({"type": "refresh", **CASE}).header["seed"])


def set_aside(talk: Conversation, wires: list[dict[str, Any]]) -> dict[str, Any]:
    return talk.ask({"type": "set_aside", **CASE, "outputs": wires}).header


def compare_aside(talk: Conversation) -> dict[str, Any]:
    return talk.ask({"type": "compare_aside", **CASE}).header


def test_outputs_are_judged_by_the_inputs_to_which_they_belong(
    talk: Conversation, case: dict[str, Any]
) -> None:
    for _ in range(3):
        assert refresh(talk)
        reply = set_aside(talk, talk.answer(case, 2.0))
        assert (reply["type"], reply["kept"]) == ("was_set_aside", True)
    # The case has other inputs by now, and its memory contains nonsense.
    assert refresh(talk)
    talk.answer(case, -1.0)
    for _ in range(3):
        reply = compare_aside(talk)
        assert (reply["type"], reply["ok"], reply["kind"]) == ("compared", True, "none")


@pytest.mark.parametrize("wrong", [0, 1, 2])
def test_one_wrong_output_of_several_is_found(
    talk: Conversation, case: dict[str, Any], wrong: int
) -> None:
    for number in range(3):
        assert refresh(talk)
        set_aside(talk, talk.answer(case, 3.0 if number == wrong else 2.0))
    kinds = [compare_aside(talk)["kind"] for _ in range(3)]
    assert kinds == ["wrong_result" if number == wrong else "none" for number in range(3)]


def test_an_output_of_earlier_inputs_is_wrong(talk: Conversation, case: dict[str, Any]) -> None:
    wires = talk.answer(case, 2.0)
    assert refresh(talk)
    assert set_aside(talk, wires)["kept"]
    assert compare_aside(talk)["kind"] == "wrong_result"


def test_outputs_outside_of_their_memory_are_a_mismatch(
    talk: Conversation, case: dict[str, Any]
) -> None:
    wires = talk.answer(case, 2.0)
    assert set_aside(talk, [{**wires[0], "offset": 1 << 40}, wires[1]])["kept"]
    assert compare_aside(talk)["kind"] == "output_mismatch"


def test_nothing_set_aside_is_an_error(talk: Conversation, case: dict[str, Any]) -> None:
    set_aside(talk, talk.answer(case, 2.0))
    assert compare_aside(talk)["ok"]
    assert compare_aside(talk)["type"] == "judge_error"


def test_what_needs_too_much_memory_is_not_set_aside(
    talk: Conversation, case: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Checks that the limit counts what was set aside for all cases of the job."""
    one = sum(value.numel() * value.element_size() for _, value in state_of(talk).tensors())
    monkeypatch.setattr(timed_rounds, "ASIDE_BYTES", 3 * (one + state_of(talk).output_bytes()))
    wires = talk.answer(case, 2.0)
    second = {"type": "set_aside", "job": "job_1", "case": "second", "outputs": wires}
    assert talk.ask(second).header["kept"]
    assert [set_aside(talk, wires)["kept"] for _ in range(3)] == [True, True, False]
    # What has been judged needs no memory.
    assert compare_aside(talk)["ok"] and set_aside(talk, wires)["kept"]


def test_few_outputs_of_a_case_are_set_aside(talk: Conversation, case: dict[str, Any]) -> None:
    wires = talk.answer(case, 2.0)
    kept = [set_aside(talk, wires)["kept"] for _ in range(timed_rounds.MOST_ASIDE + 1)]
    assert kept == [True] * timed_rounds.MOST_ASIDE + [False]


def test_inputs_drawn_ahead_are_the_next_ones(talk: Conversation, case: dict[str, Any]) -> None:
    x, _ = talk.inputs(case)
    before = x.clone()
    for rounds in (1, 2):
        talk.ask({"type": "references", **CASE, "timed": False, "rounds": rounds})
    drawn = list(state_of(talk).drawn)
    assert len(drawn) == 2 and torch.equal(x, before)
    seeds = {refresh(talk) for _ in drawn}
    assert seeds == {f"{one.seed:#x}" for one in drawn}
    assert torch.equal(x, drawn[0].arguments["x"]) and not state_of(talk).drawn
    assert refresh(talk) not in {"", *seeds, case["seed"]}
    assert talk.compare("job_1", "first", talk.answer(case, 2.0))["kind"] == "none"


def test_a_judge_that_frees_memory_gives_up_inputs_drawn_ahead(
    talk: Conversation, case: dict[str, Any]
) -> None:
    talk.ask({"type": "references", **CASE, "timed": False, "rounds": 2})
    assert len(state_of(talk).drawn) == 2
    assert talk.ask({"type": "free_memory", "job": "job_1"}).header["type"] == "freed"
    assert not state_of(talk).drawn
    assert refresh(talk)
    assert talk.compare("job_1", "first", talk.answer(case, 2.0))["kind"] == "none"


def test_no_more_inputs_are_drawn_ahead_than_there_is_room_for(
    talk: Conversation, case: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    one = sum(value.numel() * value.element_size() for _, value in state_of(talk).tensors())
    monkeypatch.setattr(timed_rounds, "AHEAD_BYTES", 2 * one)
    talk.ask({"type": "references", **CASE, "timed": True, "rounds": 9})
    assert len(state_of(talk).drawn) == 2


def test_a_case_that_keeps_its_inputs_draws_none(talk: Conversation, tmp_path: Path) -> None:
    bound = write_operator(tmp_path / "bound", spec="imported = true\n" + SPEC)
    talk.prepare(bound, "job_1")
    reply = talk.ask({"type": "references", **CASE, "timed": False, "rounds": 3})
    assert reply.type == "referenced" and state_of(talk).drawn == []


def test_the_launchers_keep_room_for_their_copies_of_the_largest_case(
    talk: Conversation, case: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    states = list(talk.judge._jobs["job_1"].values())
    given = max(sum(value.nbytes for _, value in one.tensors()) for one in states)
    made = max(one.output_bytes() for one in states)
    kept, drawn = given + made, given  # the bytes of a copy, and of the next inputs
    free = 0
    monkeypatch.setattr(timed_rounds, "_free_bytes", lambda _: free)
    wires = talk.answer(case, 2.0)
    ahead = {"type": "references", **CASE, "timed": False, "rounds": 1}
    for lacking in (1, 0):
        free = kept + 3 * given + 2 * made - lacking
        assert set_aside(talk, wires)["kept"] == (lacking == 0)
        free = drawn + 3 * given + 2 * made - lacking
        talk.ask(ahead)
        assert len(state_of(talk).drawn) == 1 - lacking


def test_gaps_between_the_elements_of_an_input_need_memory_too(
    talk: Conversation, case: dict[str, Any]
) -> None:
    state = state_of(talk)
    before = timed_rounds._input_bytes(state)
    x = state.arguments["x"]
    state.arguments["x"] = torch.zeros(2 * x.numel(), dtype=x.dtype)[::2].view(x.shape)
    assert timed_rounds._input_bytes(state) == before + (x.numel() - 1) * x.element_size()
