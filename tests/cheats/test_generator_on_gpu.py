"""Tests how the generator of cheats saves time of a GPU. Neither a server nor a GPU takes part."""

from __future__ import annotations

import itertools
import sys
from pathlib import Path
from typing import Any, cast

import pytest

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE / "generator"))

import cheat_generator  # noqa: E402
import generator_table  # noqa: E402
from cheat_generator import Results, judge  # noqa: E402
from comparers import Comparers  # noqa: E402
from graded import Graded  # noqa: E402
from mutants import Order, build, honest_text  # noqa: E402
from operator_text import all_operators  # noqa: E402
from outcomes import Outcome  # noqa: E402

SEED = 3
OPERATOR = next(one for one in all_operators() if one.name == "vector_add")


class Answers(Graded):
    """Notes what is sent. Everything passes, but the twin fails in the tool `fails`."""

    def __init__(self, twin: str, fails: str) -> None:
        self.twin, self.fails = twin, fails
        self.sent: list[tuple[str, str]] = []
        self._refusals = itertools.count(1)

    def _send(self, operator: str, source: str, tool: str, in_run: bool = True) -> dict[str, Any]:
        who = "twin" if source.startswith(self.twin) else "mutant"
        self.sent.append((who, tool))
        outcome = "fail" if (who, tool) == ("twin", self.fails) else "pass"
        return {"outcome": outcome, "error_kind": "none", "stage": "record"}

    def _verdict(
        self, operator: str, source: str, tool: str, in_run: bool = True
    ) -> dict[str, Any]:
        return self._send(operator, source, tool, in_run)


@pytest.mark.parametrize(
    ("fails", "outcome", "graded"),
    [
        ("", Outcome.UNTRIGGERED, False),
        ("run_tests", Outcome.THROUGH, True),
        ("submit", Outcome.THROUGH, True),
    ],
)
def test_a_trick_that_never_runs_is_found_without_grading_it(
    fails: str, outcome: Outcome, graded: bool
) -> None:
    order = Order(OPERATOR, ("cache_by_address",), SEED)
    server = Answers(build(order, needs_gpu=True).probe, fails)
    line = judge(order, "cuda:0", server, lambda *_: ({}, ""))
    assert line["outcome"] == outcome.name and line["passed"]
    assert (("mutant", "submit") in server.sent) == graded
    assert server.sent[:2] == [("mutant", "run_tests"), ("twin", "run_tests")]


def test_several_processes_compare_on_the_gpu(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[dict[str, Any]] = []

    class Same:
        """Answers like Comparers on a GPU on which all outputs are the same, with one process that
        ends."""

        def __init__(self, processes: int, device: str) -> None:
            assert (processes, device) == (cheat_generator.GPU_COMPARERS, "cuda:0")

        def ask(self, question: dict[str, Any]) -> tuple[dict[str, str], str]:
            asked.append(question)
            if len(asked) == 3:
                raise RuntimeError("a process of compare_outputs.py ended")
            return dict.fromkeys(question["judged"], "same"), ""

        def __enter__(self) -> Same:
            return self

        def __exit__(self, *_: object) -> None:
            pass

    monkeypatch.setattr(cheat_generator, "Comparers", Same)
    sweep = cast(Any, cheat_generator.Sweep.__new__(cheat_generator.Sweep))
    sweep.device, sweep.results = "cuda:0", Results(tmp_path / "results.jsonl")
    order = Order(OPERATOR, ("half_loads",), SEED)
    sweep.later = [(order, {"key": str(at), "outcome": ""}) for at in range(9)]
    sweep._compare_on_gpu()
    lines = generator_table.read([tmp_path / "results.jsonl"])
    assert len({line["key"] for line in lines}) == 8 and sweep.results.without_verdict == 1
    assert {line["outcome"] for line in lines} == {Outcome.EQUIVALENT.name}


def test_a_process_that_ended_is_replaced() -> None:
    with Comparers(1) as comparers:
        [process] = comparers._all
        process.kill()
        process.wait()
        name = OPERATOR.spec["cases"][0]["id"]
        question = {
            "folder": str(OPERATOR.folder),
            "honest": honest_text(OPERATOR),
            "mutant": honest_text(OPERATOR),
            "judged": [name],
        }
        cases, _ = comparers.ask(question)
        assert cases[name] == "same"
