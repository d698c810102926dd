"""Checks the generator of cheats. Some mutants go to a real server. Every transform must apply to
at least one operator and result in a valid program. If a mutant passes, evidence must decide
whether it is a cheat that got through."""

from __future__ import annotations

import gzip
import json
import os
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent.parent
sys.path.insert(0, str(HERE / "generator"))

import generator_table  # noqa: E402
import graded  # noqa: E402
from cheat_generator import Results, arguments_of, chosen, judge  # noqa: E402
from comparers import Comparers  # noqa: E402
from graded import Graded  # noqa: E402
from mutants import Order, build, plan  # noqa: E402
from operator_text import OperatorText, all_operators  # noqa: E402
from outcomes import Outcome, decide, is_forbidden  # noqa: E402
from transform import REWRITES, TRANSFORMS, NotApplicable, Reason  # noqa: E402

OPERATORS = {operator.name: operator for operator in all_operators()}
SEED = 1
# Mutants, each with the outcome that it must have.
ENDS = [
    ("vector_add", "skip_last_block", Outcome.REFUSED),
    ("vector_add", "torch_only", Outcome.REFUSED),
    ("vector_add", "half_by_torch", Outcome.REFUSED),
    ("vector_add", "half_stores", Outcome.REFUSED),
    ("relu", "input_changed", Outcome.REFUSED),
    ("softmax_last_dim", "maximum_skipped", Outcome.REFUSED),
    ("lora_linear", "bfloat_operand", Outcome.REFUSED),
    ("vector_add", "cache_by_address", Outcome.UNTRIGGERED),
    ("vector_add", "side_stream", Outcome.NO_GAIN),
    ("vector_add", "large_only", Outcome.UNREACHED),
    ("vector_add", "skip_last_head", Outcome.NOT_APPLICABLE),
    ("gluon_blocked_add", "unchanged", Outcome.NOT_JUDGED),
    ("vector_add", "renamed", Outcome.HONEST_PASS),
    ("softmax_last_dim", "launch_in_a_function", Outcome.HONEST_PASS),
]


@pytest.fixture(scope="module")
def server() -> Iterator[Graded]:
    binary = os.environ.get("ASSAY_BIN", str(ROOT / "build/release/bin/assay"))
    with Graded(binary, "cpu") as graded:
        yield graded


@pytest.fixture(scope="module")
def comparers() -> Iterator[Comparers]:
    with Comparers(1) as made:
        yield made


@pytest.mark.parametrize(("operator", "name", "end"), ENDS)
def test_a_mutant_ends_as_it_must(
    operator: str, name: str, end: Outcome, server: Graded, comparers: Comparers
) -> None:
    order = Order(OPERATORS[operator], (name,), SEED)
    line = judge(order, "cpu", server, lambda question, on_gpu: comparers.ask(question))
    assert line["outcome"] == end.name, line


def made(operator: OperatorText, name: str) -> str | Reason:
    try:
        return build(Order(operator, (name,), SEED), needs_gpu=True).source
    except NotApplicable as error:
        return error.reason


@pytest.mark.parametrize("name", [*TRANSFORMS, *REWRITES])
def test_a_transform_makes_programs(name: str) -> None:
    """Checks that the transform applies to at least one operator. Tries the shortest oracles
    first."""
    by_length = sorted(OPERATORS.values(), key=lambda operator: len(operator.oracle))
    source = next(p for one in by_length if isinstance(p := made(one, name), str))
    compile(source, name, "exec")


def test_a_seed_gives_the_same_mutants() -> None:
    def names(seed: int) -> list[tuple[str, tuple[str, ...]]]:
        orders = plan(list(OPERATORS.values()), seed, singles=50, pairs=20, honest=10)
        return [(order.operator.name, order.names) for order in orders]

    assert names(1) == names(1) != names(2)
    assert len(names(1)) == 80


def test_any_beginning_is_an_even_sample() -> None:
    """Checks the singles and the honest rewrites of three rounds over all operators."""
    orders = plan(list(OPERATORS.values()), SEED, singles=-1, pairs=-1, honest=-1)
    assert len({(order.operator.name, order.names) for order in orders if order.names}) > 9_000
    beginning = orders[: 3 * len(OPERATORS)]
    by_operator = Counter(order.operator.name for order in beginning)
    assert by_operator.keys() == OPERATORS.keys() and max(by_operator.values()) <= 5
    by_name = Counter(order.names for order in beginning)
    assert by_name.keys() >= {(name,) for name in TRANSFORMS}
    honest = sum(order.names[0] in REWRITES for order in beginning)
    share = len(REWRITES) / (len(TRANSFORMS) + len(REWRITES))
    assert abs(honest - share * len(beginning)) <= 2
    assert all(len(order.names) == 2 for order in orders[-10 * len(OPERATORS) :])


def test_each_operator_gets_an_honest_rewrite_first() -> None:
    options = arguments_of(["--honest-each", "--singles", "60", "--pairs", "30"])
    orders = chosen(options)
    honest = [order for order in orders if order.names[0] in REWRITES]
    assert orders[: len(honest)] == honest and len(orders) == len(honest) + 90
    assert Counter(order.operator.name for order in honest) == Counter(list(OPERATORS))
    assert [len(order.names) for order in orders[len(honest) :]] == [1] * 60 + [2] * 30


def test_results_of_several_runs_add_up() -> None:
    """Checks that a later run sends what no earlier run decided, whatever the seed was."""
    options = arguments_of(["--honest-each", "--singles", "40", "--pairs", "0", "--seed", "5"])
    every = chosen(options)
    lines = [
        {"device": "cpu", "operator": order.operator.name, "transforms": list(order.names)}
        for order in every
    ]
    ends = [Outcome.HONEST_PASS, Outcome.HONEST_REFUSED]
    for at, line in enumerate(lines):
        line["outcome"] = Outcome.REFUSED.name if at >= len(lines) - 40 else ends[at % 2].name
    left = chosen(options, lines)
    again = {line["operator"] for line in lines if line["outcome"] == "HONEST_REFUSED"}
    assert {order.operator.name for order in left} == again
    assert all(order.names[0] in REWRITES for order in left)
    elsewhere = [{**line, "device": "cuda:0"} for line in lines]
    assert len(chosen(options, elsewhere)) == len(every)


def test_parts_share_the_operators() -> None:
    whole = chosen(arguments_of(["--singles", "400", "--pairs", "50", "--honest", "0"]))
    numbers = ["--singles", "400", "--pairs", "50", "--honest", "0", "--parts", "3"]
    parts = [chosen(arguments_of([*numbers, "--part", str(part)])) for part in range(3)]
    operators = [{order.operator.name for order in part} for part in parts]
    assert len(set.union(*operators)) == sum(map(len, operators)) == len(OPERATORS)
    assert sorted(order.what for part in parts for order in part) == sorted(
        order.what for order in whole
    )
    with pytest.raises(SystemExit, match="--part is 3; valid: 0 to 2"):
        chosen(arguments_of([*numbers, "--part", "3"]))


def test_few_operators_are_in_progress_at_once() -> None:
    numbers = ["--singles", "500", "--pairs", "0", "--honest", "0"]
    even = chosen(arguments_of(numbers))
    few = chosen(arguments_of([*numbers, "--operators-at-once", "6"]))
    assert sorted(order.what for order in few) == sorted(order.what for order in even)
    assert [*dict.fromkeys(order.operator.name for order in few)] == [
        *dict.fromkeys(order.operator.name for order in even)
    ]
    left = Counter(order.operator.name for order in few)
    begun: set[str] = set()
    for order in few:
        begun.add(order.operator.name)
        assert len([name for name in begun if left[name]]) <= 6
        left[order.operator.name] -= 1


def test_the_bound_of_a_rate_is_that_of_the_literature() -> None:
    """Checks the rule of three, and values of tables of Clopper-Pearson intervals."""
    assert generator_table.upper_bound(0, 300) == pytest.approx(0.00994, abs=1e-5)
    assert generator_table.upper_bound(1, 10) == pytest.approx(0.3942, abs=1e-4)
    assert generator_table.upper_bound(10, 10) == 1.0


def test_a_cheat_is_graded_only_if_it_passes_the_public_cases(
    server: Graded, monkeypatch: pytest.MonkeyPatch
) -> None:
    sent: list[str] = []
    runs: list[bool] = []
    send = server._send

    def noted(operator: str, source: str, tool: str, in_run: bool) -> dict[str, Any]:
        sent.append(tool)
        runs.append(in_run)
        return send(operator, source, tool, in_run)

    monkeypatch.setattr(server, "_send", noted)
    operator = OPERATORS["vector_add"]
    wrong = operator.oracle.replace("x + y", "x - y")
    assert server.submit("vector_add", wrong, tested_first=True)["outcome"] == "fail"
    assert sent == ["run_tests"]
    assert server.submit("vector_add", operator.oracle, tested_first=True)["outcome"] == "pass"
    assert sent == ["run_tests", "run_tests", "submit"]
    monkeypatch.setattr(graded, "CONTROL", 1)
    assert server.submit("vector_add", wrong, tested_first=True)["outcome"] == "fail"
    assert sent[3:] == ["run_tests", "run_tests"]
    assert runs == [True, True, True, True, False]  # the last one has a new launcher


def test_a_run_that_was_stopped_goes_on(tmp_path: Path) -> None:
    path = tmp_path / "results.jsonl"
    first = Results(path)
    first.add({"key": "a", "outcome": "REFUSED"})
    with path.open("a") as stream:
        stream.write('{"key": "cut')  # a stopped run
    second = Results(path)
    second.add({"key": "b", "outcome": "REFUSED"})
    assert second.known == {"a"}
    assert Results(path).known == {"a", "b"}


def test_an_unknown_name_is_refused() -> None:
    with pytest.raises(SystemExit, match="no transform is named halve; valid: "):
        chosen(arguments_of(["--only", "halve"]))


def compared(comparers: Comparers, operator: str, mutant: str, *judged: str) -> dict[str, str]:
    one = OPERATORS[operator]
    question = {"folder": str(one.folder), "honest": one.oracle, "mutant": mutant, "judged": judged}
    return comparers.ask(question)[0]


def test_outputs_are_compared_without_a_server(comparers: Comparers) -> None:
    """Checks a wrong mutant. Further cases are compared only while the judged cases are right, so
    this comparison ends early."""
    honest = OPERATORS["vector_add"].oracle
    wrong = honest.replace("x + y", "x - y")
    assert compared(comparers, "vector_add", wrong, "small") == {"small": "wrong"}
    close = honest.replace("x + y", "(x + y) * 1.0000002")
    assert compared(comparers, "vector_add", close, "small")["small"] == "tolerated"
    assert set(compared(comparers, "vector_add", honest, "small").values()) == {"same"}


def test_a_comparison_that_fails_says_why(comparers: Comparers) -> None:
    one = OPERATORS["vector_add"]
    question = {
        "folder": str(one.folder),
        "honest": one.oracle,
        "mutant": "1 / 0",
        "judged": ["small"],
    }
    cases, problem = comparers.ask(question)
    assert not cases and "ZeroDivisionError" in problem


def test_the_table_counts_each_line(tmp_path: Path) -> None:
    lines = [
        {"key": "1", "drawn": True, "outcome": "REFUSED", "transforms": ["skip_last_block"]},
        {"key": "2", "outcome": "THROUGH", "transforms": ["skip_last_block"]},
        {"key": "2", "outcome": "EQUIVALENT", "transforms": ["skip_last_block"]},
        {"key": "3", "outcome": "HONEST_REFUSED", "transforms": ["renamed"]},
        {"key": "4", "outcome": "NOT_APPLICABLE", "transforms": ["renamed"], "reason": "NO_SITE"},
    ]
    results = tmp_path / "results.jsonl"
    results.write_text(
        "".join(json.dumps({"device": "cpu", "operator": "relu", **line}) + "\n" for line in lines)
    )
    packed = tmp_path / "results.jsonl.gz"
    packed.write_bytes(gzip.compress(results.read_bytes()))
    assert generator_table.read([packed]) == generator_table.read([results])
    assert "| cheats of one transform | 1 | 1 | 0 | 0.00% | 95.00% |" in generator_table.page(
        generator_table.read([packed])
    )
    page = generator_table.page(generator_table.read([results]))
    assert "launches one program less along the first axis | 2 | 1 | 0 | 1 |" in page
    assert "| relu | renamed | cpu | honest, refused |" in page
    assert f"| {Reason.NO_SITE.value} | 1 |" in page


def test_a_case_does_not_run_outside_of_a_jail() -> None:
    """Checks that the prelude ends a process outside of a jail before the case would run."""
    text = (HERE / "prelude.py").read_text(encoding="utf-8")
    done = subprocess.run(
        [sys.executable, "-c", text + "\nprint('a case would run here')"],
        capture_output=True,
        text=True,
    )
    assert done.returncode == 1 and "attacks what executes it" in done.stderr
    assert done.stdout == ""


def test_a_trick_for_the_interpreter_works_where_the_oracle_does_not_import_triton() -> None:
    order = Order(OPERATORS["gluon_cpasync_axpy_pipelined"], ("torch_if_interpreted",), SEED)
    text = build(order, needs_gpu=False).source
    assert text.index("import triton\n") < text.index("@triton.jit")


def test_a_trick_for_the_interpreter_is_none_on_a_gpu() -> None:
    order = Order(OPERATORS["vector_add"], ("torch_if_interpreted",), SEED)
    (trick,) = order.transforms
    assert is_forbidden(trick, "cpu") and not is_forbidden(trick, "cuda:0")
    mutant = build(order, needs_gpu=False)
    passed = {"outcome": "pass", "error_kind": "none", "perf": 1.0}

    def unused(*arguments: object) -> object:
        raise AssertionError(arguments)

    assert decide(mutant, passed, "cpu", unused, unused)[0] is Outcome.THROUGH
    assert decide(mutant, passed, "cuda:0", unused, unused)[0] is Outcome.NO_GAIN
    faster = {**passed, "perf": 1.5}
    assert decide(mutant, faster, "cuda:0", unused, unused)[0] is Outcome.THROUGH


def test_the_interpreter_does_not_decide_about_another_path_of_a_gpu() -> None:
    order = Order(OPERATORS["jsd"], ("coarse_function",), SEED)
    mutant = build(order, needs_gpu=False)
    passed = {"outcome": "pass", "error_kind": "none", "perf": 1.0}
    asked: list[bool] = []

    def compared(question: dict[str, Any], on_gpu: bool) -> tuple[dict[str, str], str]:
        asked.append(on_gpu)
        said = "same" if on_gpu else "wrong"
        return dict.fromkeys(question["judged"], said), ""

    def unused(*arguments: object) -> Any:
        raise AssertionError(arguments)

    every = {case["id"] for case in order.operator.spec["cases"]}
    found, evidence = decide(mutant, passed, "cuda:0", unused, compared)
    assert found is Outcome.EQUIVALENT and evidence.keys() == every
    assert decide(mutant, passed, "cpu", unused, compared)[0] is Outcome.THROUGH
    assert asked == [True, False]


def test_a_transform_takes_no_function_in_a_dictionary_for_a_kernel() -> None:
    """Checks that the launch loses a program, and not the call of the inserted reference."""
    order = Order(OPERATORS["cat_pad"], ("torch_if_interpreted", "skip_last_block"), 32)
    source = build(order, needs_gpu=True).source
    assert "cheat_space['reference'](" in source
    assert "_cat_pad_kernel[cheat_grid(grid, " in source


def test_no_term_of_an_address_is_dropped() -> None:
    """Checks a kernel that loads from sums of a pointer whose name does not say that it is one."""
    operator = OPERATORS["conv2d_3x3"]
    for seed in range(40):
        source = build(Order(operator, ("drop_term",), seed), needs_gpu=True).source
        assert "tl.load(weight_tile + place * filters * padded + first)" in source
        assert "tl.load(x_tile + shift * padded + first)" in source


def test_a_gpu_compares_what_no_interpreter_runs() -> None:
    order = Order(OPERATORS["gluon_persistent_gemm"], ("skip_last_block",), SEED)
    mutant = build(order, needs_gpu=True)
    passed = {"outcome": "pass", "error_kind": "none", "perf": 1.0}

    def failed(question: dict[str, Any], on_gpu: bool) -> tuple[dict[str, str], str]:
        assert on_gpu
        return {}, "no GPU"

    def unused(*arguments: object) -> Any:
        raise AssertionError(arguments)

    found, evidence = decide(mutant, passed, "cuda:0", unused, failed)
    assert found is Outcome.UNDECIDED and "no GPU" in evidence


def test_the_store_has_what_answers_leave_out(server: Graded) -> None:
    mutant = build(Order(OPERATORS["vector_add"], ("skip_last_block",), SEED), needs_gpu=False)
    verdict = server.submit("vector_add", mutant.source)
    stored = server.stored(verdict["job"])
    assert (stored["job"], stored["outcome"]) == (verdict["job"], "fail")
