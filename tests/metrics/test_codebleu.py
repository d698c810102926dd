"""Checks CodeBLEU against examples computed by hand from its definition (Ren et al. 2020)."""

from __future__ import annotations

import importlib.util
import json
import math
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import pytest

ROOT = Path(__file__).resolve().parent.parent.parent
PROGRAM = ROOT / "metrics/codebleu.py"


@pytest.fixture(scope="module")
def metric() -> ModuleType:
    spec = importlib.util.spec_from_file_location("codebleu", PROGRAM)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


REFERENCE = "def f(a, b):\n    return a + b\n"
SWAPPED = "def f(x, y):\n    return y - x\n"


def test_a_source_is_like_itself(metric: ModuleType) -> None:
    assert metric.codebleu(REFERENCE, REFERENCE) == {
        "ngram": 1.0,
        "weighted_ngram": 1.0,
        "syntax": 1.0,
        "dataflow": 1.0,
        "codebleu": 1.0,
    }


def test_comments_docstrings_and_layout_do_not_count(metric: ModuleType) -> None:
    noisy = (
        '"""Title."""\n# note\ndef f(a,\n      b):\n    """Adds."""\n    return (a + b)  # sum\n'
    )
    assert metric.codebleu(noisy, REFERENCE)["codebleu"] == 1.0


def test_bleu_by_hand(metric: ModuleType) -> None:
    # 4 of 5 single tokens match, 3 of 4 pairs, 2 of 3 triples, and 1 of 2 groups of four. Both
    # texts have five tokens, so there is no penalty.
    expected = (4 / 5 * 3 / 4 * 2 / 3 * 1 / 2) ** 0.25
    assert metric.bleu(["a", "b", "c", "d", "e"], ["a", "b", "c", "d", "f"]) == pytest.approx(
        expected
    )
    # All n-grams of the candidate match. The candidate has 4 tokens and the reference has 5, so the
    # result is the penalty for short candidates, exp(1 - 5/4).
    assert metric.bleu(["a", "b", "c", "d"], ["a", "b", "c", "d", "e"]) == pytest.approx(
        math.exp(-0.25)
    )
    # Repetition is clipped: "a a a a" matches the single "a" of the reference, and no pair matches.
    assert metric.bleu(["a", "a", "a", "a"], ["a", "b", "c", "d"]) == 0.0
    assert metric.bleu([], ["a", "b"]) == 0.0


def test_weighted_unigrams_by_hand(metric: ModuleType) -> None:
    # "return" (weight 5) and ";" match, and "x" does not. So the share is (5 + 1) of (5 + 1 + 1).
    assert metric.weighted_bleu(["return", "x", ";"], ["return", "y", ";"]) == pytest.approx(6 / 7)
    # A wrong keyword costs five times as much as a wrong name. So the share is (1 + 1) of 7.
    assert metric.weighted_bleu(["yield", "x", ";"], ["return", "x", ";"]) == pytest.approx(2 / 7)


def test_syntax_by_hand(metric: ModuleType) -> None:
    # The reference has five subtrees with children: Module, FunctionDef, arguments, Return, BinOp.
    # If - replaces +, the shapes of the four subtrees that contain the operator differ. Only
    # `arguments` is the same, so the share is 1/5. Names are leaves and do not count.
    assert metric.codebleu(SWAPPED, REFERENCE)["syntax"] == pytest.approx(1 / 5)
    renamed = "def g(x, y):\n    return x + y\n"
    assert metric.codebleu(renamed, REFERENCE)["syntax"] == 1.0
    # Repetition is clipped: a second BinOp in the candidate does not match again.
    twice = "def f(a, b):\n    a + b\n    return a + b\n"
    # arguments, Return and BinOp match; FunctionDef and Module do not.
    assert metric.codebleu(twice, REFERENCE)["syntax"] == pytest.approx(3 / 5)


def test_dataflow_by_hand(metric: ModuleType) -> None:
    import ast

    source = "def f(a, b):\n    c = a + b\n    c = c * a\n    return c\n"
    # The source reads a and b, sets c from a and b, reads c and a, sets c from c and a, and reads
    # c. In the order of appearance, a is var_0, b is var_1 and c is var_2.
    assert metric.data_flow(ast.parse(source)) == {
        ("var_0", "comesFrom", "var_0"): 2,
        ("var_1", "comesFrom", "var_1"): 1,
        ("var_2", "computedFrom", "var_0"): 2,
        ("var_2", "computedFrom", "var_1"): 1,
        ("var_2", "comesFrom", "var_2"): 2,
        ("var_2", "computedFrom", "var_2"): 1,
    }
    # Without the second statement, five of the nine edges remain: a and b are each read once, c is
    # set from a and from b, and c is read once.
    shorter = "def f(a, b):\n    c = a + b\n    return c\n"
    assert metric.codebleu(shorter, source)["dataflow"] == pytest.approx(5 / 9)
    assert metric.codebleu(SWAPPED, REFERENCE)["dataflow"] == 1.0  # two parameters, each read once


def test_dataflow_of_loops_and_unbound_names(metric: ModuleType) -> None:
    import ast

    source = "def f(n):\n    s = 0\n    for i in range(n):\n        s += i\n    return s\n"
    # The source reads n, sets i from n, reads i, sets s from s and i, and reads s. The source does
    # not bind `range`, so `range` is not a variable. n is var_0, i is var_1 and s is var_2.
    assert metric.data_flow(ast.parse(source)) == {
        ("var_0", "comesFrom", "var_0"): 1,
        ("var_1", "computedFrom", "var_0"): 1,
        ("var_1", "comesFrom", "var_1"): 1,
        ("var_2", "computedFrom", "var_2"): 1,
        ("var_2", "computedFrom", "var_1"): 1,
        ("var_2", "comesFrom", "var_2"): 1,
    }


def test_all_four_parts_by_hand(metric: ModuleType) -> None:
    # Both sources have 12 tokens: "def f ( x , y ) : return y - x" and "def f ( a , b ) : return a +
    # b". 7 unigrams match: def f ( , ) : return. 4 of 11 pairs match: "def f", "f (", ") :",
    # ": return". 2 of 10 triples match: "def f (", ") : return". No group of four matches, so BLEU
    # is 0.
    parts = metric.codebleu(SWAPPED, REFERENCE)
    assert parts["ngram"] == 0.0
    assert parts["weighted_ngram"] == pytest.approx((5 + 1 + 1 + 1 + 1 + 1 + 5) / (12 + 4 + 4))
    assert parts["codebleu"] == pytest.approx(0.25 * (0 + 15 / 20 + 1 / 5 + 1))


def test_a_candidate_that_does_not_parse(metric: ModuleType) -> None:
    parts = metric.codebleu("def f(a, b:\n    return a + b\n", REFERENCE)
    assert parts["syntax"] == parts["dataflow"] == 0.0
    assert 0 < parts["ngram"] < 1


def test_a_more_similar_source_has_a_higher_score(metric: ModuleType) -> None:
    golden = (ROOT / "operators/standard/softmax_last_dim/oracle.py").read_text()
    other = (ROOT / "operators/standard/vector_add/oracle.py").read_text()
    near = golden.replace("tl.exp(", "tl.exp2(")
    assert metric.codebleu(golden, golden)["codebleu"] == pytest.approx(1.0)
    assert (
        metric.codebleu(other, golden)["codebleu"] < metric.codebleu(near, golden)["codebleu"] < 1.0
    )


def run(document: object) -> dict[str, list[dict[str, object]]]:
    done = subprocess.run(
        [sys.executable, "-I", "-B", str(PROGRAM)],
        input=json.dumps(document),
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert done.returncode == 0, done.stderr
    answer: dict[str, list[dict[str, object]]] = json.loads(done.stdout)
    return answer


def test_the_program_never_runs_what_it_reads(tmp_path: Path) -> None:
    trace = tmp_path / "ran"
    hostile = f"open({str(trace)!r}, 'w').write('x')\nimport os\nos._exit(3)\n"
    scores = run(
        {
            "pairs": [
                {"candidate": hostile, "reference": REFERENCE},
                {"candidate": REFERENCE, "reference": REFERENCE},
            ]
        }
    )["scores"]
    assert scores[1]["codebleu"] == 1.0
    assert isinstance(scores[0]["codebleu"], float)
    assert not trace.exists()


@pytest.mark.parametrize(
    "text",
    [
        "x = " + "+".join(["1"] * 100_000),
        "(" * 100_000,
        "\x00",
        "\ud800",
        "x" * 2_000_000,
        "",
        "if 1:\n" * 90 + "x",
    ],
)
def test_the_program_survives_any_text(text: str) -> None:
    scores = run(
        {
            "pairs": [
                {"candidate": text, "reference": REFERENCE},
                {"candidate": REFERENCE, "reference": REFERENCE},
            ]
        }
    )["scores"]
    assert "error" in scores[0] or isinstance(scores[0]["codebleu"], float)
    assert scores[1]["codebleu"] == 1.0
