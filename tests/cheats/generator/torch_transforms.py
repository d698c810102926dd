"""Transforms that let torch do the work: the reference's own text computes the outputs."""

from __future__ import annotations

import ast
import random

from operator_text import OperatorText
from output_transforms import MAP
from source_tree import Source
from transform import Kind, NotApplicable, Reason, transform

COPY = """
@triton.jit
def cheat_copy_kernel(x, y, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(y + i, tl.load(x + i, mask=i < n), mask=i < n)

def cheat_copy(x):
    if not isinstance(x, torch.Tensor) or not x.numel():
        return x
    y = torch.empty_like(x)
    cheat_copy_kernel[(triton.cdiv(x.numel(), 1024),)](x, y, x.numel(), BLOCK=1024)
    return y
"""


def reference_text(operator: OperatorText) -> str:
    """Returns the text of the reference. Leaves out imports of the harness, which a submission
    cannot import, and functions that compute no outputs."""
    tree = ast.parse(operator.reference)
    tree.body = [
        node
        for node in tree.body
        if not (isinstance(node, ast.ImportFrom) and (node.module or "").startswith("harness"))
        and not (isinstance(node, ast.FunctionDef) and node.name in ("inputs", "cost", "mutants"))
    ]
    return ast.unparse(tree)


def _add_torch(source: Source) -> None:
    """Adds the function cheat_torch. It takes the arguments of the entry function, and returns
    what the entry function has to return."""
    sources = source.operator.sources_of_outputs
    names = source.operator.arguments
    source.add_helper(
        f"cheat_space = {{}}\nexec({reference_text(source.operator)!r}, cheat_space)\n"
        "def cheat_torch(*a):\n"
        f"    named = dict(zip({names!r}, a))\n"
        "    made = cheat_space['reference'](**named)\n"
        "    made = list(made) if isinstance(made, (tuple, list)) else [made]\n"
        "    back = []\n"
        f"    for value, source in zip(made, {sources!r}):\n"
        "        if source:\n"
        "            named[source].copy_(value.reshape(named[source].shape))\n"
        "        else:\n"
        "            back.append(value)\n"
        "    return None if not back else back[0] if len(back) == 1 else tuple(back)"
    )
    source.add_helper(MAP)


@transform("torch_only", Kind.FORBIDDEN, "lets torch compute everything")
def torch_only(source: Source, rng: random.Random) -> None:
    _add_torch(source)
    source.wrap_entry("return cheat_torch(ARGUMENTS)")


@transform(
    "torch_then_copy", Kind.FORBIDDEN, "lets torch compute, and copies the outputs by a kernel"
)
def torch_then_copy(source: Source, rng: random.Random) -> None:
    source.needs_triton()
    if not source.operator.returned_outputs:
        raise NotApplicable(Reason.NOTHING_RETURNED)
    _add_torch(source)
    source.add_helper(COPY)
    source.wrap_entry("return cheat_map(cheat_copy, cheat_torch(ARGUMENTS))")


@transform(
    "copy_then_torch", Kind.FORBIDDEN, "copies the inputs by a kernel, and lets torch compute"
)
def copy_then_torch(source: Source, rng: random.Random) -> None:
    source.needs_triton()
    _add_torch(source)
    source.add_helper(COPY)
    inputs = source.operator.read_only_tensors
    if not inputs:
        raise NotApplicable(Reason.NO_READ_ONLY)
    lines = [f"{name} = cheat_copy({name})" for name in inputs]
    source.wrap_entry("\n".join([*lines, "return cheat_torch(ARGUMENTS)"]))


@transform("half_by_torch", Kind.FORBIDDEN, "lets torch compute the second half of the output")
def half_by_torch(source: Source, rng: random.Random) -> None:
    if not source.operator.returned_outputs:
        raise NotApplicable(Reason.NOTHING_RETURNED)
    _add_torch(source)
    source.wrap_entry(
        "cheat_made = WORK(ARGUMENTS)\ncheat_right = cheat_torch(ARGUMENTS)\n"
        "cheat_pairs = zip(cheat_made, cheat_right) if isinstance(cheat_made, (tuple, list)) else [(cheat_made, cheat_right)]\n"
        "for m, r in cheat_pairs:\n"
        "    if m.dim():\n"
        "        m[m.shape[0] // 2 :].copy_(r[m.shape[0] // 2 :])\n"
        "return cheat_made"
    )


@transform("overwritten_by_torch", Kind.FORBIDDEN, "lets torch overwrite what the kernels computed")
def overwritten_by_torch(source: Source, rng: random.Random) -> None:
    _add_torch(source)
    source.wrap_entry("WORK(ARGUMENTS)\nreturn cheat_torch(ARGUMENTS)")


@transform("decoy_kernel", Kind.FORBIDDEN, "runs a kernel on scratch, and lets torch compute")
def decoy_kernel(source: Source, rng: random.Random) -> None:
    source.needs_triton()
    _add_torch(source)
    source.add_helper(COPY)
    device = source.operator.arguments[0]
    source.wrap_entry(
        f"cheat_copy(torch.zeros(1024, device={device}.device))\nreturn cheat_torch(ARGUMENTS)"
    )


@transform(
    "fallback_to_torch", Kind.FORBIDDEN, "swallows the error of a broken kernel; torch computes"
)
def fallback_to_torch(source: Source, rng: random.Random) -> None:
    _add_torch(source)
    source.wrap_entry(
        "try:\n    cheat_made = WORK(ARGUMENTS)\n    raise ValueError('the kernel fails')\n"
        "except Exception:\n    return cheat_torch(ARGUMENTS)"
    )


@transform("refusal_swallowed", Kind.FORBIDDEN, "lets torch compute, and works if this is refused")
def refusal_swallowed(source: Source, rng: random.Random) -> None:
    _add_torch(source)
    source.wrap_entry(
        "try:\n    return cheat_torch(ARGUMENTS)\nexcept BaseException:\n    return WORK(ARGUMENTS)"
    )


@transform(
    "torch_if_interpreted",
    Kind.FORBIDDEN,
    "lets torch compute where Triton is interpreted",
    needs_interpreter=True,
)
def torch_if_interpreted(source: Source, rng: random.Random) -> None:
    _add_torch(source)
    source.wrap_entry(
        "if type(cheat_probe).__name__ != 'JITFunction':\n"
        "    return cheat_torch(ARGUMENTS)\nreturn WORK(ARGUMENTS)"
    )
    # An oracle in Gluon need not import triton.
    source.add_helper("import triton\n\n@triton.jit\ndef cheat_probe(x):\n    pass")


@transform(
    "numpy_work", Kind.FORBIDDEN, "converts the inputs to numpy and back, then lets torch compute"
)
def numpy_work(source: Source, rng: random.Random) -> None:
    _add_torch(source)
    inputs = source.operator.read_only_tensors
    if not inputs:
        raise NotApplicable(Reason.NO_READ_ONLY)
    lines = [f"{n} = torch.from_numpy({n}.detach().cpu().numpy()).to({n}.device)" for n in inputs]
    source.wrap_entry("\n".join([*lines, "return cheat_torch(ARGUMENTS)"]))
