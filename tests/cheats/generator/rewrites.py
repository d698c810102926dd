"""Rewrites an oracle as another honest author could have written it. The server must accept every
rewritten oracle."""

from __future__ import annotations

import ast
import random

from output_transforms import MAP
from source_tree import Source, pick
from transform import Kind, NotApplicable, Reason, transform


@transform("unchanged", Kind.HONEST, "the oracle itself, without comments")
def unchanged(source: Source, rng: random.Random) -> None:
    pass


class _Rename(ast.NodeTransformer):
    def __init__(self, names: dict[str, str]) -> None:
        self.names = names

    def visit_Name(self, node: ast.Name) -> ast.AST:
        node.id = self.names.get(node.id, node.id)
        return node

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.AST:
        node.name = self.names.get(node.name, node.name)
        self.generic_visit(node)
        return node


@transform("renamed", Kind.HONEST, "functions and kernels have other names")
def renamed(source: Source, rng: random.Random) -> None:
    names = {
        f.name: f"renamed_{at}"
        for at, f in enumerate(source.functions())
        if f.name != source.operator.entry
    }
    source.tree = _Rename(names).visit(source.tree)


@transform("renamed_variables", Kind.HONEST, "the entry function's variables have other names")
def renamed_variables(source: Source, rng: random.Random) -> None:
    entry = next(f for f in source.functions() if f.name == source.operator.entry)
    stored = [
        n.id for n in ast.walk(entry) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)
    ]
    names = {name: f"{name}_" for name in stored if name not in source.operator.arguments}
    at = source.tree.body.index(entry)
    source.tree.body[at] = _Rename(names).visit(entry)


@transform("helper_in_a_kernel", Kind.HONEST, "a kernel gets its program's number from a function")
def helper_in_a_kernel(source: Source, rng: random.Random) -> None:
    source.needs_triton()
    calls = [c for c in source.calls("program_id") if c.args and ast.unparse(c.args[0]) == "0"]
    source.replace(pick(rng, calls), source.expression("honest_program()"))
    source.add_helper("@triton.jit\ndef honest_program():\n    return tl.program_id(0)")


@transform(
    "launch_in_a_function", Kind.HONEST, "a function launches a kernel for the entry function"
)
def launch_in_a_function(source: Source, rng: random.Random) -> None:
    call = pick(rng, source.launches())
    assert isinstance(call.func, ast.Subscript)
    call.args[:0] = [call.func.value, call.func.slice]
    call.func = ast.Name("honest_launch", ast.Load())
    source.add_helper(
        "def honest_launch(kernel, grid, *a, **options):\n    return kernel[grid](*a, **options)"
    )


@transform("grid_as_a_function", Kind.HONEST, "the grid is a function of the kernel's constants")
def grid_as_a_function(source: Source, rng: random.Random) -> None:
    calls = [
        c
        for c in source.launches()
        if isinstance(c.func, ast.Subscript) and isinstance(c.func.slice, ast.Tuple)
    ]
    call = pick(rng, calls)
    assert isinstance(call.func, ast.Subscript)
    call.func.slice = source.expression("lambda meta: {0}", call.func.slice)


@transform("autotuned", Kind.HONEST, "an autotuner with one configuration sets the options")
def autotuned(source: Source, rng: random.Random) -> None:
    kernels = {f.name for f in source.kernels()}
    calls = [
        c
        for c in source.launches()
        if isinstance(c.func, ast.Subscript)
        and isinstance(c.func.value, ast.Name)
        and c.func.value.id in kernels
        and all(k.arg is not None for k in c.keywords)
    ]
    call = pick(rng, calls)
    options = {
        k.arg: k.value
        for k in call.keywords
        if k.arg in ("num_warps", "num_stages") and isinstance(k.value, ast.Constant)
    }
    if any(k.arg in ("num_warps", "num_stages") and k.arg not in options for k in call.keywords):
        raise NotApplicable(Reason.NO_SITE)
    call.keywords = [k for k in call.keywords if k.arg not in options]
    assert isinstance(call.func, ast.Subscript)
    name = ast.unparse(call.func.value)
    text = ", ".join(f"{name}={ast.unparse(value)}" for name, value in options.items())
    call.func.value = source.expression("honest_tuned")
    made = f"honest_tuned = triton.autotune([triton.Config({{}}, {text})], key=[])({name})"
    at = max(n for n, node in enumerate(source.tree.body) if getattr(node, "name", "") == name)
    source.tree.body[at + 1 : at + 1] = ast.parse(made.replace(", )", ")")).body


@transform("outputs_start_as_zeros", Kind.HONEST, "allocates zeros in place of empty memory")
def outputs_start_as_zeros(source: Source, rng: random.Random) -> None:
    names = [
        node
        for f in source.host_functions()
        for node in ast.walk(f)
        if isinstance(node, ast.Attribute)
        and ast.unparse(node) in ("torch.empty", "torch.empty_like")
    ]
    node = pick(rng, names)
    node.attr = node.attr.replace("empty", "zeros")


@transform("returns_a_clone", Kind.HONEST, "returns clones of its outputs")
def returns_a_clone(source: Source, rng: random.Random) -> None:
    if not source.operator.returned_outputs:
        raise NotApplicable(Reason.NOTHING_RETURNED)
    source.add_helper(MAP)
    source.wrap_entry("return cheat_map(lambda o: o.clone(), WORK(ARGUMENTS))")


@transform("wrapped", Kind.HONEST, "a decorator around the entry function, in no_grad")
def wrapped(source: Source, rng: random.Random) -> None:
    source.wrap_entry("with torch.no_grad():\n    return WORK(ARGUMENTS)")


@transform("viewed", Kind.HONEST, "passes its inputs through views of the same shape")
def viewed(source: Source, rng: random.Random) -> None:
    names = source.operator.read_only_tensors
    if not names:
        raise NotApplicable(Reason.NO_READ_ONLY)
    source.wrap_entry(
        "\n".join([*(f"{n} = {n}.view({n}.shape)" for n in names), "return WORK(ARGUMENTS)"])
    )
