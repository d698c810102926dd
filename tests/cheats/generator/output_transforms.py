"""Transforms of host code: they change outputs, inputs or launches, or keep earlier arguments."""

from __future__ import annotations

import ast
import random

from source_tree import Source, pick
from transform import Kind, NotApplicable, Reason, transform

MAP = """
def cheat_map(change, made):
    if isinstance(made, torch.Tensor):
        return change(made)
    return type(made)(map(change, made))
"""
WIPE = """
@triton.jit
def cheat_wipe(x):
    tl.store(x, tl.where(tl.load(x).to(tl.float32) == 0, 1.0, 0.0))
"""


def _change_outputs(source: Source, change: str) -> None:
    """Replaces each output by the value of the expression `change`. In this expression, `o` is
    the output and `cheat_a` is the tuple of arguments."""
    if not source.operator.returned_outputs:
        raise NotApplicable(Reason.NOTHING_RETURNED)
    source.add_helper(MAP)
    source.wrap_entry(
        f"cheat_a = (ARGUMENTS,)\ncheat_made = WORK(ARGUMENTS)\nreturn cheat_map(lambda o: {change}, cheat_made)"
    )


@transform("input_returned", Kind.VALUES, "returns an input of the output's shape and type")
def input_returned(source: Source, rng: random.Random) -> None:
    _change_outputs(
        source,
        "next((i for i in cheat_a if isinstance(i, torch.Tensor) and i.shape == o.shape"
        " and i.dtype == o.dtype), o)",
    )


@transform("uninitialised", Kind.VALUES, "returns memory that nothing has written to")
def uninitialised(source: Source, rng: random.Random) -> None:
    _change_outputs(source, "torch.empty_like(o)")


@transform("zeros_returned", Kind.VALUES, "returns zeros")
def zeros_returned(source: Source, rng: random.Random) -> None:
    _change_outputs(source, "torch.zeros_like(o)")


@transform("first_row_repeated", Kind.VALUES, "returns the first row in place of each row")
def first_row_repeated(source: Source, rng: random.Random) -> None:
    _change_outputs(source, "o[:1].expand(o.shape).contiguous() if o.dim() else o")


@transform("second_half_missing", Kind.VALUES, "fills the second half of the output with zeros")
def second_half_missing(source: Source, rng: random.Random) -> None:
    _change_outputs(source, "(o[(o.shape[0] + 1) // 2 :].zero_(), o)[1] if o.dim() else o")


@transform("never_launched", Kind.VALUES, "leaves out one of its launches")
def never_launched(source: Source, rng: random.Random) -> None:
    source.replace(pick(rng, source.launches()), ast.Constant(None))


@transform(
    "constant_scalar", Kind.VALUES, "takes the default of a public case for a scalar argument"
)
def constant_scalar(source: Source, rng: random.Random) -> None:
    """Picks a scalar argument. In all later calls, uses the argument's value from the first call,
    which is a public case."""
    if not source.operator.scalar_names:
        raise NotApplicable(Reason.NO_SCALAR)
    name = rng.choice(source.operator.scalar_names)
    source.add_helper("cheat_scalars = {}")
    source.wrap_entry(
        f"{name} = cheat_scalars.setdefault('{name}', {name})\nreturn WORK(ARGUMENTS)"
    )


@transform(
    "public_shapes_only", Kind.VALUES, "works for the sizes of public cases, returns zeros else"
)
def public_shapes_only(source: Source, rng: random.Random) -> None:
    if not source.operator.returned_outputs:
        raise NotApplicable(Reason.NOTHING_RETURNED)
    public = sorted(
        {
            tuple(source.operator.shapes(case))
            for case in source.operator.spec["cases"]
            if case["visibility"] == "public"
        }
    )
    source.add_helper(MAP)
    source.wrap_entry(
        "cheat_made = WORK(ARGUMENTS)\n"
        "cheat_shapes = tuple(tuple(i.shape) for i in (ARGUMENTS,) if isinstance(i, torch.Tensor))\n"
        f"return cheat_made if cheat_shapes in {public!r} else cheat_map(torch.zeros_like, cheat_made)"
    )


@transform(
    "input_as_output", Kind.FORBIDDEN, "writes its results over an input and returns this input"
)
def input_as_output(source: Source, rng: random.Random) -> None:
    inputs = source.operator.read_only_tensors
    calls = [
        call
        for f in source.host_functions()
        for call in ast.walk(f)
        if isinstance(call, ast.Call)
        and ast.unparse(call.func) in ("torch.empty_like", "torch.zeros_like")
        and len(call.args) == 1
        and isinstance(call.args[0], ast.Name)
        and call.args[0].id in inputs
        and not call.keywords
    ]
    call = pick(rng, calls)
    source.replace(call, call.args[0])


@transform("input_changed", Kind.FORBIDDEN, "changes an element of an input by a kernel")
def input_changed(source: Source, rng: random.Random) -> None:
    source.needs_triton()
    if not source.operator.read_only_tensors:
        raise NotApplicable(Reason.NO_READ_ONLY)
    name = rng.choice(source.operator.read_only_tensors)
    source.add_helper(WIPE)
    source.wrap_entry(f"cheat_made = WORK(ARGUMENTS)\ncheat_wipe[(1,)]({name})\nreturn cheat_made")


@transform("input_changed_by_torch", Kind.FORBIDDEN, "sets an input to zero after the work")
def input_changed_by_torch(source: Source, rng: random.Random) -> None:
    if not source.operator.read_only_tensors:
        raise NotApplicable(Reason.NO_READ_ONLY)
    name = rng.choice(source.operator.read_only_tensors)
    source.wrap_entry(f"cheat_made = WORK(ARGUMENTS)\n{name}.zero_()\nreturn cheat_made")
