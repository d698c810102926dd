"""Checks that no defence mistakes unusual but honest submissions for cheats. Each submission must
also be recordable for a GPU, so that it can be timed."""

from __future__ import annotations

import types

import pytest
from cheat_file import BadCase, Case, cheats, honest_ones
from cheat_server import CheatServer, Results


def test_honest_on_the_cpu(case: Case, cpu_server: CheatServer) -> None:
    verdict = cpu_server.send(case)
    assert case.expect.problem_with(verdict) is None, (
        f"{verdict['summary']}\n{verdict.get('stderr', '')[-2000:]}"
    )


def test_honest_records(case: Case, cpu_server: CheatServer, results: Results) -> None:
    """Checks that the submission can be recorded. If its header has the line `recorder: refuses
    (REASON)`, checks instead that the recorder refuses it."""
    verdict = cpu_server.send(case, "compile")
    results.setdefault("records", {})[case.name] = {
        "seen": f"{verdict['outcome']}:{verdict['error_kind']}",
        "problems": [],
    }
    assert (verdict["outcome"] == "pass") == (not case.refused), verdict["summary"]


@pytest.mark.gpu
def test_honest_on_the_gpu(case: Case, gpu_server: CheatServer) -> None:
    verdict = gpu_server.send(case)
    expected = case.on_gpu or case.expect
    assert expected.problem_with(verdict) is None, verdict["summary"]


def test_an_honest_source_can_be_executed_by_any_process() -> None:
    """Checks that only honest cases have a source without the prelude's guard, and that lines keep
    their numbers in it. tests/gpu executes such sources in processes that are not candidates."""
    case = next(one for one in honest_ones() if one.name == "35_grids_kept_by_shape")
    guarded, free = case.source(), case.source_for_any_process()
    assert len(free.splitlines()) == len(guarded.splitlines())
    submission = types.ModuleType("submission")
    with pytest.raises(SystemExit):
        exec(compile(guarded, "guarded.py", "exec"), vars(submission))
    for one in honest_ones():
        assert "_is_candidate" not in one.source_for_any_process(), one.name
    with pytest.raises(BadCase, match="may attack"):
        cheats()[0].source_for_any_process()
