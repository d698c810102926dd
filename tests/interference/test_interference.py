"""Tests non-interference: what a client learns must not depend on the hidden cases. Each test case
is a submission that tries to tell the client what it sees of the hidden cases. Two servers grade
it. Their suites differ only in the hidden cases, and all their answers must be equal.

A case has two header lines: `attempt` describes the attempt in one line, and `expect` is the
verdict that a client gets. The header `random: values` marks a case whose answer shows values of
public inputs, because these values are random."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from case_header import Expectation, read_header
from twins import HERE, SECRETS, Twins, plain

CASES = sorted((HERE / "cases").glob("*.py*"))
PRELUDE = (HERE / "prelude.py").read_text(encoding="utf-8")
# The stages of a grade that progress messages may name. No message may name a stage that judges the
# hidden cases.
PLACES = ("queued", "stage queue", "stage import", "stage compile", "stage record", "stage run")
PLACES += ("stage judge", "stage done")
FORMS = ("table", "json", "csv")


def secrets_in(text: str) -> list[str]:
    """Returns the names and sizes of hidden cases that occur in a text. Ignores digits inside a
    hash."""
    return [one for one in SECRETS if re.search(rf"(?<![0-9a-f]){one}(?![0-9a-f])", text)]


def source_of(case: Path) -> str:
    return f"{PRELUDE}\n\n{case.read_text(encoding='utf-8')}"


@pytest.mark.parametrize("case", [pytest.param(case, id=case.stem) for case in CASES])
def test_the_answers_do_not_depend_on_the_hidden_cases(case: Path, twins: Twins) -> None:
    header = read_header(case, required={"attempt", "expect"}, optional={"random"})
    expected = Expectation.parse(header["expect"], case.name)
    graded = [twin.grade(source_of(case)) for twin in twins.both]
    tests = [twin.test(source_of(case)) for twin in twins.both]
    said = []
    for (answers, places), tested in zip(graded, tests, strict=True):
        assert (problem := expected.problem_with(answers[0]["structuredContent"])) is None, problem
        for place in places:
            assert place.startswith(PLACES), place
            # Four public cases of the operator run in the interpreter, so a progress message may
            # count only these.
            assert ", case " not in place or re.search("case [1-4] of 4$", place), place
        said.append([plain(part, header.get("random", "")) for part in [*answers, tested]])
    for first, second in zip(*said, strict=True):
        assert first == second
        assert not secrets_in(first)


@pytest.mark.parametrize(
    ("case", "part", "told"),
    [
        ("01_class_name", "exception", ("n12289_float32", "n778_float16")),
        ("33_import_that_never_ends", "message", ("hidden_small", "unseen_a")),
    ],
)
def test_the_submissions_do_see_different_cases(
    case: str, part: str, told: tuple[str, str], twins: Twins, tmp_path: Path
) -> None:
    """Checks that the verdict for a maintainer shows the hidden cases, which answers to clients do
    not show."""
    source = source_of(HERE / "cases" / f"{case}.py")
    for twin, name in zip(twins.both, told, strict=True):
        verdict = twin.evaluated(source, tmp_path)
        assert name in verdict["diagnostic"][part]
        assert verdict["tells_hidden"]


def test_what_was_known_before_the_hidden_cases_is_said_in_full(twins: Twins) -> None:
    for twin in twins.both:
        answers, _ = twin.grade(source_of(HERE / "cases" / "35_error_on_public.py"))
        verdict = answers[0]["structuredContent"]
        assert verdict["diagnostic"]["message"] == "a public case of 4112"
        assert verdict["stdout"] == "a public case of 4112\n"


def test_decimals_that_look_like_a_time_are_decimals() -> None:
    """`plain` must not mistake a fraction of 13 digits for a time in milliseconds since 1970."""
    assert plain('{"sandbox_ms": 1122.1234567890123}', "decimals") == '{"sandbox_ms": F}'
    assert plain('{"at": 1764130000000}', "decimals") == '{"at": T}'


@pytest.mark.parametrize("form", FORMS)
def test_reports_do_not_depend_on_the_hidden_cases(form: str, twins: Twins) -> None:
    first, second = (plain(twin.report(form), "decimals") for twin in twins.both)
    assert first == second and "vector_add" in first
    assert not secrets_in(first)


def test_logs_do_not_depend_on_the_hidden_cases(twins: Twins) -> None:
    first, second = (plain(twin.log.read_text()) for twin in twins.both)
    assert "job finished" in first
    assert sorted(first.splitlines()) == sorted(second.splitlines())
    assert not secrets_in(first)
