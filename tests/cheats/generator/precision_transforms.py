"""Transforms that compute with fewer bits than the task needs."""

from __future__ import annotations

import ast
import random

from source_tree import Source, pick
from transform import Kind, NotApplicable, Reason, transform

# These functions round floating-point values, and return integers, pointers and booleans unchanged.
# The function for bfloat16 changes bits, because the interpreter does not have this type.
ROUND = """
@triton.jit
def cheat_half(v):
    if v.dtype.is_floating():
        return v.to(tl.float16).to(v.dtype)
    else:
        return v

@triton.jit
def cheat_bfloat(v):
    if v.dtype.is_floating():
        bits = v.to(tl.float32).to(tl.int32, bitcast=True) & -65536
        return bits.to(tl.float32, bitcast=True).to(v.dtype)
    else:
        return v
"""


def _round(source: Source, node: ast.AST, how: str) -> None:
    source.replace(node, source.expression(f"cheat_{how}({{0}})", node))
    source.add_helper(ROUND)


def _round_load(source: Source, rng: random.Random, how: str) -> None:
    source.needs_triton()
    _round(source, pick(rng, source.calls("load")), how)


@transform("half_loads", Kind.VALUES, "rounds what it loads to float16")
def half_loads(source: Source, rng: random.Random) -> None:
    _round_load(source, rng, "half")


@transform("bfloat_loads", Kind.VALUES, "rounds what it loads to bfloat16")
def bfloat_loads(source: Source, rng: random.Random) -> None:
    _round_load(source, rng, "bfloat")


def _round_store(source: Source, rng: random.Random, how: str) -> None:
    source.needs_triton()
    call = pick(rng, [c for c in source.calls("store") if len(c.args) >= 2])
    _round(source, call.args[1], how)


@transform("half_stores", Kind.VALUES, "rounds a result to float16 before it is stored")
def half_stores(source: Source, rng: random.Random) -> None:
    _round_store(source, rng, "half")


@transform("bfloat_stores", Kind.VALUES, "rounds a result to bfloat16 before it is stored")
def bfloat_stores(source: Source, rng: random.Random) -> None:
    _round_store(source, rng, "bfloat")


def _accumulations(source: Source) -> list[ast.Assign | ast.AugAssign]:
    """Returns the accumulations: statements in a loop that compute a variable from its old
    value."""
    found: list[ast.Assign | ast.AugAssign] = []
    for loop in source.in_kernels(ast.For):
        for node in ast.walk(loop):
            target = (
                node.target
                if isinstance(node, ast.AugAssign)
                else node.targets[0]
                if isinstance(node, ast.Assign) and len(node.targets) == 1
                else None
            )
            if not isinstance(target, ast.Name) or "ptr" in target.id:
                continue
            names = {n.id for n in ast.walk(node.value) if isinstance(n, ast.Name)}
            if isinstance(node, ast.AugAssign) or target.id in names:
                found.append(node)
    return found


@transform("half_accumulator", Kind.VALUES, "rounds an accumulator to float16 in each iteration")
def half_accumulator(source: Source, rng: random.Random) -> None:
    source.needs_triton()
    node = pick(rng, _accumulations(source))
    value = node.value
    if isinstance(node, ast.AugAssign):
        operation = ast.BinOp(ast.Name(node.target.id, ast.Load()), node.op, node.value)
        new = ast.Assign([node.target], source.expression("cheat_half({0})", operation))
        source.replace(node, new)
    else:
        node.value = source.expression("cheat_half({0})", value)
    source.add_helper(ROUND)


@transform("coarse_function", Kind.VALUES, "an elementary function with eight bits")
def coarse_function(source: Source, rng: random.Random) -> None:
    source.needs_triton()
    names = ("exp", "exp2", "log", "log2", "sqrt", "rsqrt", "erf", "sigmoid", "sin", "cos")
    _round(source, pick(rng, source.calls(*names, "sqrt_rn", "div_rn")), "bfloat")


@transform("tensor_float", Kind.VALUES, "multiplies float32 as TF32", needs_gpu=True)
def tensor_float(source: Source, rng: random.Random) -> None:
    words = [
        keyword
        for call in source.calls("dot")
        for keyword in call.keywords
        if keyword.arg == "input_precision"
    ]
    if not words:
        raise NotApplicable(Reason.NO_SITE)
    rng.choice(words).value = ast.Constant("tf32")


@transform("bfloat_operand", Kind.VALUES, "rounds one operand of a matrix product to bfloat16")
def bfloat_operand(source: Source, rng: random.Random) -> None:
    source.needs_triton()
    call = pick(rng, [c for c in source.calls("dot") if len(c.args) >= 2])
    _round(source, rng.choice(call.args[:2]), "bfloat")
