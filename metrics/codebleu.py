"""Computes CodeBLEU (Ren et al. 2020, arXiv 2009.10297) of Python sources: how similar the text of a
submission is to a reference.

CodeBLEU is the mean of four parts: BLEU over tokens, BLEU over unigrams in which keywords weigh
five times as much, shared subtrees of the syntax trees, and shared data-flow edges. This program
tokenises and parses sources. It never compiles or runs a source.

It reads {"pairs": [{"candidate": ..., "reference": ...}]} from standard input. It writes {"scores":
[...]} with a score or {"error": ...} for each pair."""

from __future__ import annotations

import ast
import io
import json
import keyword
import math
import re
import resource
import sys
import tokenize
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any

MAX_ORDER = 4
KEYWORD_WEIGHT = 5.0
PART_WEIGHT = 0.25
MAX_SOURCE_CHARACTERS = 1_000_000
# The memory limit of this process. Without a limit, a hostile source could make the parser use any
# amount of memory.
MEMORY_BYTES = 4 << 30
INVISIBLE = {
    tokenize.COMMENT,
    tokenize.NL,
    tokenize.NEWLINE,
    tokenize.INDENT,
    tokenize.DEDENT,
    tokenize.ENCODING,
    tokenize.ENDMARKER,
}
# Finds the tokens of a source that Python's tokeniser refuses. A token is then a sequence of
# letters, digits and underscores, or any other single character except white space.
ROUGH_TOKEN = re.compile(r"\w+|[^\w\s]")
VARIABLE_FREE = (ast.expr_context,)


def tokens_of(source: str) -> list[str]:
    """Returns the tokens of the source without comments and layout."""
    try:
        found = tokenize.generate_tokens(io.StringIO(source).readline)
        return [token.string for token in found if token.type not in INVISIBLE]
    except (tokenize.TokenError, SyntaxError):
        return ROUGH_TOKEN.findall(source)


def shared(candidate: Counter[Any], reference: Counter[Any]) -> int:
    """Returns Count_clip of the BLEU paper: the sum, over all items, of the smaller of an item's
    two counts."""
    return sum((candidate & reference).values())


def brevity_penalty(candidate: int, reference: int) -> float:
    if candidate == 0:
        return 0.0
    return 1.0 if candidate > reference else math.exp(1 - reference / candidate)


def grams(tokens: Sequence[str], order: int) -> Counter[tuple[str, ...]]:
    return Counter(tuple(tokens[i : i + order]) for i in range(len(tokens) - order + 1))


def bleu(candidate: Sequence[str], reference: Sequence[str]) -> float:
    """Returns BLEU (Papineni et al. 2002) with one reference. BLEU counts shared sequences of 1 to
    4 tokens; the length of a sequence is its order. If the reference has fewer than 4 tokens, there
    are fewer orders. BLEU is not smoothed: an order without a match makes the result 0."""
    orders = range(1, min(MAX_ORDER, len(reference)) + 1)
    logs = []
    for order in orders:
        mine = grams(candidate, order)
        matched = shared(mine, grams(reference, order))
        if matched == 0:
            return 0.0
        logs.append(math.log(matched / sum(mine.values())))
    return (
        brevity_penalty(len(candidate), len(reference)) * math.exp(sum(logs) / len(logs))
        if logs
        else 0.0
    )


def weighted_bleu(candidate: Sequence[str], reference: Sequence[str]) -> float:
    """Returns the second part of CodeBLEU, weighted BLEU. It uses only unigrams, because keywords
    are single tokens."""

    def weight(counts: Counter[str]) -> float:
        return sum(
            count * (KEYWORD_WEIGHT if keyword.iskeyword(token) else 1.0)
            for token, count in counts.items()
        )

    mine = Counter(candidate)
    if not mine:
        return 0.0
    return (
        brevity_penalty(len(candidate), len(reference))
        * weight(mine & Counter(reference))
        / weight(mine)
    )


def without_docstrings(tree: ast.Module) -> ast.Module:
    for node in ast.walk(tree):
        if (
            isinstance(node, (ast.Module, ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef))
            and ast.get_docstring(node, clean=False) is not None
        ):
            node.body = node.body[1:] or [ast.Pass()]
    return tree


def subtrees(tree: ast.AST) -> Counter[int]:
    """Counts the shapes of all subtrees that have children. A shape consists of node types only.
    Nodes without children, such as names and constants, are not counted; the paper leaves them out
    too."""
    counts: Counter[int] = Counter()

    def shape(node: ast.AST) -> int:
        children = tuple(
            shape(child)
            for child in ast.iter_child_nodes(node)
            if not isinstance(child, VARIABLE_FREE)
        )
        number = hash((type(node).__name__, children))
        if children:
            counts[number] += 1
        return number

    shape(tree)
    return counts


class DataFlow(ast.NodeVisitor):
    """Collects the data-flow edges: where the value of a variable comes from. The edges are in the
    order in which Python evaluates the source. The body of a function follows its definition.

    The edge (x, "computedFrom", y) means that x is bound to an expression which reads y. The edge
    (x, "comesFrom", x) means that x is read after it was bound. Variables are the names that
    assignments, `for`, `with`, comprehensions and parameters bind. The names of modules, functions,
    classes and built-ins are not variables."""

    def __init__(self) -> None:
        self.edges: list[tuple[str, str, str]] = []
        self.scopes: list[set[str]] = [set()]

    def known(self, name: str) -> bool:
        return any(name in scope for scope in self.scopes)

    def bind(self, target: ast.AST, value: ast.AST | None) -> None:
        sources = (
            [node.id for node in names_in(value, ast.Load) if self.known(node.id)]
            if value is not None
            else []
        )
        for name in [node.id for node in names_in(target, ast.Store)]:
            self.edges.extend((name, "computedFrom", source) for source in sources)
            self.scopes[-1].add(name)

    def visit_Name(self, node: ast.Name) -> None:
        if isinstance(node.ctx, ast.Load) and self.known(node.id):
            self.edges.append((node.id, "comesFrom", node.id))

    def visit_Assign(self, node: ast.Assign) -> None:
        self.visit(node.value)
        for target in node.targets:
            self.visit(target)
            self.bind(target, node.value)

    def visit_AnnAssign(self, node: ast.AnnAssign) -> None:
        if node.value is not None:
            self.visit(node.value)
        self.bind(node.target, node.value)

    def visit_AugAssign(self, node: ast.AugAssign) -> None:
        self.visit(node.value)
        if isinstance(node.target, ast.Name) and self.known(node.target.id):
            self.edges.append((node.target.id, "computedFrom", node.target.id))
        self.bind(node.target, node.value)

    def visit_NamedExpr(self, node: ast.NamedExpr) -> None:
        self.visit(node.value)
        self.bind(node.target, node.value)

    def visit_For(self, node: ast.For) -> None:
        self.visit(node.iter)
        self.bind(node.target, node.iter)
        for statement in [*node.body, *node.orelse]:
            self.visit(statement)

    def visit_With(self, node: ast.With) -> None:
        for item in node.items:
            self.visit(item.context_expr)
            if item.optional_vars is not None:
                self.bind(item.optional_vars, item.context_expr)
        for statement in node.body:
            self.visit(statement)

    def _comprehension(
        self, node: ast.ListComp | ast.SetComp | ast.GeneratorExp | ast.DictComp
    ) -> None:
        self.scopes.append(set())
        for generator in node.generators:
            self.visit(generator.iter)
            self.bind(generator.target, generator.iter)
            for condition in generator.ifs:
                self.visit(condition)
        for part in [node.key, node.value] if isinstance(node, ast.DictComp) else [node.elt]:
            self.visit(part)
        self.scopes.pop()

    visit_ListComp = visit_SetComp = visit_GeneratorExp = visit_DictComp = _comprehension

    def _function(self, node: ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda) -> None:
        arguments = node.args
        for default in [*arguments.defaults, *arguments.kw_defaults]:
            if default is not None:
                self.visit(default)
        parameters = [
            *arguments.posonlyargs,
            *arguments.args,
            *arguments.kwonlyargs,
            arguments.vararg,
            arguments.kwarg,
        ]
        self.scopes.append({parameter.arg for parameter in parameters if parameter is not None})
        for statement in node.body if isinstance(node.body, list) else [node.body]:
            self.visit(statement)
        self.scopes.pop()

    visit_FunctionDef = visit_AsyncFunctionDef = visit_Lambda = _function


def names_in(node: ast.AST, context: type[ast.expr_context]) -> Iterator[ast.Name]:
    """Yields the names with this context in the order of the source. ast.walk would yield the names
    in the order of their depth in the tree."""
    if isinstance(node, ast.Name) and isinstance(node.ctx, context):
        yield node
    for child in ast.iter_child_nodes(node):
        yield from names_in(child, context)


def data_flow(tree: ast.AST) -> Counter[tuple[str, str, str]]:
    """Counts the data-flow edges of the tree. The names of variables do not matter in CodeBLEU. So
    the variables are renamed to var_0, var_1, ... in the order of their first occurrence in an
    edge."""
    finder = DataFlow()
    finder.visit(tree)
    order: dict[str, str] = {}

    def renamed(name: str) -> str:
        return order.setdefault(name, f"var_{len(order)}")

    return Counter(
        (renamed(target), kind, renamed(source)) for target, kind, source in finder.edges
    )


def recall(candidate: Counter[Any], reference: Counter[Any]) -> float:
    """Returns the share of the reference's items that the candidate has too. Returns 1 if neither
    has an item, and 0 if only the reference has none."""
    total = sum(reference.values())
    return shared(candidate, reference) / total if total else float(not candidate)


def parsed(source: str) -> ast.Module | None:
    try:
        return without_docstrings(ast.parse(source))
    except (SyntaxError, ValueError):
        return None


def codebleu(candidate: str, reference: str) -> dict[str, float]:
    """Returns the four parts of CodeBLEU and their mean. If the candidate does not parse, its parts
    for the syntax tree and the data flow are 0. The reference must parse."""
    if max(len(candidate), len(reference)) > MAX_SOURCE_CHARACTERS:
        raise ValueError(f"a source has at most {MAX_SOURCE_CHARACTERS} characters")
    mine, golden = parsed(candidate), parsed(reference)
    if golden is None:
        raise ValueError("the reference does not parse")
    # Docstrings do not count. parsed() removes them from the trees, and the tokens come from the
    # text of the trees.
    words, golden_words = (
        tokens_of(ast.unparse(mine) if mine else candidate),
        tokens_of(ast.unparse(golden)),
    )
    parts = {
        "ngram": bleu(words, golden_words),
        "weighted_ngram": weighted_bleu(words, golden_words),
        "syntax": recall(subtrees(mine), subtrees(golden)) if mine else 0.0,
        "dataflow": recall(data_flow(mine), data_flow(golden)) if mine else 0.0,
    }
    return {**parts, "codebleu": PART_WEIGHT * sum(parts.values())}


def score(pair: dict[str, str]) -> dict[str, Any]:
    try:
        return dict(codebleu(pair["candidate"], pair["reference"]))
    except (ValueError, RecursionError, MemoryError) as error:
        return {"error": f"{type(error).__name__}: {error}"}


def main() -> int:
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY_BYTES, MEMORY_BYTES))
    pairs = json.load(sys.stdin)["pairs"]
    json.dump({"scores": [score(pair) for pair in pairs]}, sys.stdout)
    return 0


if __name__ == "__main__":
    sys.exit(main())
