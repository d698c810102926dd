"""Checks that no example is a reworded operator of the benchmark.

The test compares sequences of eight tokens in the kernels of a file (functions with a `jit`
decorator). It ignores comments, docstrings, layout and annotations. It replaces each name by its
position among the names of the sequence, so renaming changes nothing. Numbers, strings, keywords
and attributes stay. A sequence is ignored if more than one file in ten contains it, because it is a
common idiom. The overlap of an example and an operator's file is a share: the number of sequences
that both files contain, divided by the number of sequences of the shorter file. This divisor is at
least 40, because a share of few sequences says little.

The threshold comes from a measurement of 118 examples and the 328 files of 164 operators. Half of
the pairs share no sequence, 99 % of the pairs have an overlap below 0.18, and 99.9 % below 0.37.
The largest overlap is 0.55: both files load and store a masked tile. Two operators with the same
core, such as two matrix products, have an overlap above 0.9."""

from __future__ import annotations

import ast
import io
import keyword
import tokenize
from collections import Counter
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent.parent
EXAMPLES = sorted((ROOT / "operators/examples").glob("*.py"))
GRADED = sorted(
    path
    for name in ("oracle.py", "reference.py")
    for path in (ROOT / "operators").glob(f"*/*/{name}")
)
RUN = 8
COMMON = 0.1
LEAST_RUNS = 40
MOST = 0.6
KEPT = {"tl", "gl", "gluon", "triton", "torch", "range", "len", "min", "max", "int", "float"}
SKIPPED = {
    tokenize.COMMENT,
    tokenize.NL,
    tokenize.NEWLINE,
    tokenize.INDENT,
    tokenize.DEDENT,
    tokenize.ENDMARKER,
}

Run = tuple[str, ...]


def kernels(text: str) -> list[str]:
    """Returns the sources of the functions that run on the GPU. If a file, such as a reference, has
    no such function, returns the sources of all functions."""
    functions = [node for node in ast.parse(text).body if isinstance(node, ast.FunctionDef)]
    jitted = [
        node
        for node in functions
        if any("jit" in ast.unparse(decorator) for decorator in node.decorator_list)
    ]
    sources = []
    for function in jitted or functions:
        function.decorator_list = []
        for node in ast.walk(function):
            if isinstance(node, ast.FunctionDef) and ast.get_docstring(node) is not None:
                node.body = node.body[1:] or [ast.Pass()]
            if isinstance(node, ast.arg):
                node.annotation = None
        sources.append(ast.unparse(function))
    return sources


def runs_of(text: str) -> set[Run]:
    runs = set()
    for source in kernels(text):
        tokens: list[tuple[str, bool]] = []
        for token in tokenize.generate_tokens(io.StringIO(source).readline):
            if token.type in SKIPPED:
                continue
            name = (
                token.type == tokenize.NAME
                and not keyword.iskeyword(token.string)
                and token.string not in KEPT
            )
            tokens.append((token.string, name and not (tokens and tokens[-1][0] == ".")))
        for first in range(len(tokens) - RUN + 1):
            places: dict[str, str] = {}
            window = tokens[first : first + RUN]
            runs.add(
                tuple(
                    places.setdefault(string, f"name {len(places)}") if name else string
                    for string, name in window
                )
            )
    return runs


def overlap(a: set[Run], b: set[Run], common: set[Run]) -> float:
    a, b = a - common, b - common
    return len(a & b) / max(LEAST_RUNS, min(len(a), len(b)))


@pytest.fixture(scope="module")
def texts() -> dict[Path, str]:
    assert len(EXAMPLES) >= 100 and len(GRADED) >= 20
    return {path: path.read_text() for path in EXAMPLES + GRADED}


@pytest.fixture(scope="module")
def runs(texts: dict[Path, str]) -> dict[Path, set[Run]]:
    return {path: runs_of(text) for path, text in texts.items()}


@pytest.fixture(scope="module")
def common(runs: dict[Path, set[Run]]) -> set[Run]:
    held = Counter(run for of_file in runs.values() for run in of_file)
    return {run for run, count in held.items() if count > COMMON * len(runs)}


def test_no_example_is_an_operator(runs: dict[Path, set[Run]], common: set[Run]) -> None:
    close = {
        (example.stem, graded.parent.name): round(share, 2)
        for example in EXAMPLES
        for graded in GRADED
        if (share := overlap(runs[example], runs[graded], common)) > MOST
    }
    assert not close, f"examples too much like an operator: {close}"


def renamed(text: str) -> str:
    """Renames every variable, argument and kernel of a file."""
    tree = ast.parse(text)
    names = {
        node.id
        for node in ast.walk(tree)
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)
    }
    names |= {node.arg for node in ast.walk(tree) if isinstance(node, ast.arg)} | {
        n.name for n in ast.walk(tree) if isinstance(n, ast.FunctionDef)
    }
    for node in ast.walk(tree):
        if isinstance(node, ast.Name) and node.id in names:
            node.id += "_2"
        elif isinstance(node, (ast.arg, ast.keyword)) and node.arg in names:
            node.arg = f"{node.arg}_2"
        elif isinstance(node, ast.FunctionDef):
            node.name += "_2"
    return ast.unparse(tree)


@pytest.mark.parametrize("path", GRADED, ids=lambda path: f"{path.parent.name}-{path.stem}")
def test_a_renamed_operator_is_found(
    path: Path, texts: dict[Path, str], runs: dict[Path, set[Run]], common: set[Run]
) -> None:
    other = renamed(texts[path])
    assert other != texts[path]
    assert overlap(runs_of(other), runs[path], common) > 0.9


def test_names_and_titles_are_not_an_operators(texts: dict[Path, str]) -> None:
    operators = {path.parent.name for path in GRADED}
    assert not operators & {path.stem for path in EXAMPLES}
    for path in EXAMPLES:
        assert not any(f"def {name}(" in texts[path] for name in operators)
