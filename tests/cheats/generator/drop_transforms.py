"""Transforms that leave work out: programs, iterations, stores, terms."""

from __future__ import annotations

import ast
import random

from source_tree import Source, pick
from transform import Kind, NotApplicable, Reason, transform

GRID = """
def cheat_grid(grid, change):
    def of(meta):
        made = grid(meta) if callable(grid) else grid
        made = (made,) if isinstance(made, int) else tuple(made)
        return tuple(max(1, size) for size in change(made))
    return of
"""
# An expression with one of these words computes an address or a position, not a term of a result.
POSITIONS = ("ptr", "arange", "program_id", "offset", "start", "BLOCK", "stride", "desc", "base")
ATOMICS = ("atomic_add", "atomic_max", "atomic_min", "atomic_cas", "atomic_xchg")


def _change_grid(source: Source, rng: random.Random, change: str, axes: int = 1) -> None:
    launches = [
        call
        for call in source.launches()
        if axes == 1 or (isinstance(call.func.slice, ast.Tuple) and len(call.func.slice.elts) >= 2)
    ]
    call = pick(rng, launches, Reason.NO_SITE if axes == 1 else Reason.ONE_AXIS)
    source.add_helper(GRID)
    call.func.slice = source.expression("cheat_grid({0}, " + change + ")", call.func.slice)


@transform("skip_last_block", Kind.VALUES, "launches one program less along the first axis")
def skip_last_block(source: Source, rng: random.Random) -> None:
    _change_grid(source, rng, "lambda g: (g[0] - 1, *g[1:])")


@transform("skip_last_head", Kind.VALUES, "launches one program less along the last of many axes")
def skip_last_head(source: Source, rng: random.Random) -> None:
    _change_grid(source, rng, "lambda g: (*g[:-1], g[-1] - 1)", axes=2)


@transform("half_of_the_grid", Kind.VALUES, "launches half of the programs")
def half_of_the_grid(source: Source, rng: random.Random) -> None:
    _change_grid(source, rng, "lambda g: (g[0] // 2, *g[1:])")


def _loop(source: Source, rng: random.Random) -> tuple[ast.Call, ast.expr, ast.expr, ast.expr]:
    """Picks a loop over a range. Returns the call of `range`, and its start, stop and step."""
    loops = [
        loop.iter
        for loop in source.in_kernels(ast.For)
        if isinstance(loop.iter, ast.Call)
        and ast.unparse(loop.iter.func).split(".")[-1] in ("range", "static_range")
        and loop.iter.args
    ]
    call = pick(rng, loops)
    zero, one = ast.Constant(0), ast.Constant(1)
    if len(call.args) == 1:
        return call, zero, call.args[0], one
    return call, call.args[0], call.args[1], call.args[2] if len(call.args) > 2 else one


@transform("skip_last_iteration", Kind.VALUES, "ends a kernel's loop one iteration early")
def skip_last_iteration(source: Source, rng: random.Random) -> None:
    call, start, stop, step = _loop(source, rng)
    call.args = [start, source.expression("({0}) - ({1})", stop, step), step]


@transform("one_iteration", Kind.VALUES, "runs only the first iteration of a kernel's loop")
def one_iteration(source: Source, rng: random.Random) -> None:
    call, start, _, step = _loop(source, rng)
    call.args = [start, source.expression("({0}) + ({1})", start, step), step]


@transform("every_other_iteration", Kind.VALUES, "runs every second iteration of a kernel's loop")
def every_other_iteration(source: Source, rng: random.Random) -> None:
    call, start, stop, step = _loop(source, rng)
    call.args = [start, stop, source.expression("({0}) * 2", step)]


@transform(
    "first_tile_again", Kind.VALUES, "loads the first tile again in each iteration of a loop"
)
def first_tile_again(source: Source, rng: random.Random) -> None:
    sites = []
    for loop in source.in_kernels(ast.For):
        if not isinstance(loop.target, ast.Name) or not isinstance(loop.iter, ast.Call):
            continue
        for call in source.calls("load"):
            inside = any(node is call for node in ast.walk(loop))
            names = [
                node
                for node in ast.walk(call)
                if isinstance(node, ast.Name) and node.id == loop.target.id
            ]
            if inside and names:
                start = loop.iter.args[0] if len(loop.iter.args) > 1 else ast.Constant(0)
                sites += [(name, start) for name in names]
    if not sites:
        raise NotApplicable(Reason.NO_SITE)
    name, start = rng.choice(sites)
    source.replace(name, start)


@transform("drop_store", Kind.VALUES, "leaves out one of a kernel's stores")
def drop_store(source: Source, rng: random.Random) -> None:
    sites = []
    for kernel in source.kernels():
        stores = [
            node
            for node in ast.walk(kernel)
            if isinstance(node, ast.Expr)
            and isinstance(node.value, ast.Call)
            and ast.unparse(node.value.func) in ("tl.store", "gl.store", "tl.atomic_add")
        ]
        sites += stores if len(stores) > 1 else []
    source.replace(pick(rng, sites, Reason.ONE_STORE), ast.Pass())


def _restrict_store(source: Source, rng: random.Random, condition: str) -> None:
    """Adds `condition` to the mask of a store. In `condition`, {0} stands for the pointer and {1}
    for the mask."""
    source.needs_triton()
    call = pick(rng, [c for c in source.calls("store") if len(c.args) >= 2])
    mask = call.args[2] if len(call.args) > 2 else None
    mask = mask or next((k.value for k in call.keywords if k.arg == "mask"), None)
    call.args = call.args[:2]
    call.keywords = [k for k in call.keywords if k.arg != "mask"]
    shown = mask if mask is not None else ast.Constant(None)
    made = source.expression(condition, call.args[0], shown)
    both = made if mask is None else source.expression("({0}) & ({1})", mask, made)
    call.keywords.append(ast.keyword("mask", both))


@transform("first_program_only", Kind.VALUES, "only the first program along the first axis stores")
def first_program_only(source: Source, rng: random.Random) -> None:
    _restrict_store(source, rng, "tl.program_id(0) == 0")


@transform("store_where_not_zero", Kind.VALUES, "stores only where the output is not zero already")
def store_where_not_zero(source: Source, rng: random.Random) -> None:
    _restrict_store(source, rng, "tl.load({0}, mask={1}) != 0")


@transform("zeros_stored", Kind.VALUES, "stores zeros in place of a result")
def zeros_stored(source: Source, rng: random.Random) -> None:
    call = pick(rng, [c for c in source.calls("store") if len(c.args) >= 2])
    call.args[1] = source.expression("({0}) * 0", call.args[1])


@transform("drop_term", Kind.VALUES, "leaves out one term of a sum in a kernel")
def drop_term(source: Source, rng: random.Random) -> None:
    # A term of an address may be a pointer, and Triton multiplies no pointer by 0.
    addresses = [call.args[0] for call in source.calls("load", "store", *ATOMICS) if call.args]
    in_addresses = {id(node) for address in addresses for node in ast.walk(address)}
    sums = [
        node
        for node in source.in_kernels(ast.BinOp)
        if isinstance(node.op, ast.Add)
        and id(node) not in in_addresses
        and not any(w in ast.unparse(node) for w in POSITIONS)
    ]
    node = pick(rng, sums)
    keep, drop = rng.sample([node.left, node.right], 2)
    source.replace(node, source.expression("({0}) + ({1}) * 0", keep, drop))


@transform(
    "drop_condition", Kind.VALUES, "takes the first value of a `where`, whatever is the case"
)
def drop_condition(source: Source, rng: random.Random) -> None:
    call = pick(rng, [c for c in source.calls("where") if len(c.args) == 3])
    call.args[0] = source.expression("({0}) == ({0})", call.args[0])


@transform("small_terms_dropped", Kind.VALUES, "a sum leaves out terms below a hundredth")
def small_terms_dropped(source: Source, rng: random.Random) -> None:
    source.needs_triton()
    call = pick(rng, [c for c in source.calls("sum") if c.args])
    call.args[0] = source.expression("({0}) * (tl.abs({0}) > 0.01)", call.args[0])


@transform("maximum_skipped", Kind.VALUES, "takes zero for the maximum of a block")
def maximum_skipped(source: Source, rng: random.Random) -> None:
    call = pick(rng, source.calls("max"))
    source.replace(call, source.expression("({0}) * 0", call))


@transform(
    "one_head_for_all", Kind.VALUES, "every program of an axis after the first does the same"
)
def one_head_for_all(source: Source, rng: random.Random) -> None:
    calls = [c for c in source.calls("program_id") if c.args and ast.unparse(c.args[0]) != "0"]
    call = pick(rng, calls, Reason.ONE_AXIS)
    source.replace(call, source.expression("({0}) * 0", call))


@transform("no_barrier", Kind.VALUES, "leaves out a barrier between threads", needs_gpu=True)
def no_barrier(source: Source, rng: random.Random) -> None:
    call = pick(rng, source.calls("debug_barrier", "thread_barrier"))
    source.replace(call, ast.Constant(None))


@transform("no_atomics", Kind.VALUES, "adds by a load and a store, not atomically", needs_gpu=True)
def no_atomics(source: Source, rng: random.Random) -> None:
    calls = [c for c in source.calls("atomic_add") if len(c.args) == 2]
    call = pick(rng, calls)
    mask = next((k.value for k in call.keywords if k.arg == "mask"), ast.Constant(None))
    source.replace(
        call,
        source.expression(
            "tl.store({0}, tl.load({0}, mask={2}) + ({1}), mask={2})", *call.args, mask
        ),
    )


@transform("tail_ignored", Kind.VALUES, "rounds a bound of a mask down to a multiple of 16")
def tail_ignored(source: Source, rng: random.Random) -> None:
    bounds = [
        node
        for node in source.in_kernels(ast.Compare)
        if len(node.ops) == 1
        and isinstance(node.ops[0], ast.Lt)
        and isinstance(node.comparators[0], ast.Name)
        and not node.comparators[0].id.isupper()
    ]
    node = pick(rng, bounds)
    node.comparators[0] = source.expression("({0}) // 16 * 16", node.comparators[0])


# Keeps every second element along one axis. A sum of these elements is about half of the sum.
EVERY_OTHER = """
@triton.jit
def cheat_every_other(v, axis: tl.constexpr):
    at = tl.arange(0, v.shape[axis])
    kept = 2 * (at % 2 == 0).to(v.dtype)
    if len(v.shape) == 1:
        return v * kept
    elif axis == 0:
        return v * kept[:, None]
    else:
        return v * kept[None, :]
"""


@transform(
    "half_of_the_terms", Kind.VALUES, "estimates a sum by twice the sum of half of its terms"
)
def half_of_the_terms(source: Source, rng: random.Random) -> None:
    source.needs_triton()
    sites = []
    for call in source.calls("sum"):
        axis = call.args[1] if len(call.args) > 1 else None
        axis = axis or next((k.value for k in call.keywords if k.arg == "axis"), ast.Constant(0))
        if call.args and isinstance(axis, ast.Constant) and axis.value in (0, 1):
            sites.append((call, axis))
    if not sites:
        raise NotApplicable(Reason.NO_SITE)
    call, axis = rng.choice(sites)
    call.args[0] = source.expression("cheat_every_other({0}, {1})", call.args[0], axis)
    source.add_helper(EVERY_OTHER)


@transform(
    "stored_where_poisoned", Kind.VALUES, "stores only where the memory has NaN, as if poisoned"
)
def stored_where_poisoned(source: Source, rng: random.Random) -> None:
    _restrict_store(source, rng, "tl.load({0}, mask={1}) != tl.load({0}, mask={1})")
