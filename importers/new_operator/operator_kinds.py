"""Defines the simple kinds of operators that `assay operators new --kind` can write: a reference in
PyTorch and a Triton kernel that agrees with it.

    reference, oracle = source_of("rows", "weighted_sum", inputs)

Both sources are working code. The author replaces the formula in both."""

from __future__ import annotations

from operator_request import Input, Refused

# The names that the functions below use.
TAKEN = ("y", "c", "n", "m", "k", "rows", "cols", "block", "grid", "torch", "triton", "tl")

HEAD = "import torch\nimport triton\nimport triton.language as tl\n"

ELEMENTWISE = """

@triton.jit
def _kernel({pointers}, y_ptr, n, factor, BLOCK: tl.constexpr):
    offsets = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    mask = offsets < n
    # This is the formula of reference.py: replace both.
    total = 2.0 * tl.load({first}_ptr + offsets, mask=mask).to(tl.float32)
{more}    tl.store(y_ptr + offsets, (total * factor).to(y_ptr.dtype.element_ty), mask=mask)


def {name}({parameters}):
    y = torch.empty_like({first})
    n = {first}.numel()
    block = 2048
    _kernel[(triton.cdiv(n, block),)]({tensors}, y, n, {factor}, BLOCK=block, num_warps=8)
    return y
"""

ROWS = """

@triton.jit
def _kernel({pointers}, y_ptr, cols, factor, BLOCK: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    total = tl.zeros((BLOCK,), tl.float32)
    for start in range(0, cols, BLOCK):
        offsets = start + tl.arange(0, BLOCK)
        mask = offsets < cols
        # This is the formula of reference.py: replace both.
        term = tl.load({first}_ptr + row * cols + offsets, mask=mask, other=0.0).to(tl.float32)
{more}        total += term
    y = tl.sum(total, axis=0) * factor
    tl.store(y_ptr + row, y.to(y_ptr.dtype.element_ty))


def {name}({parameters}):
    rows, cols = {first}.shape
    y = torch.empty((rows,), dtype={first}.dtype, device={first}.device)
    block = min(triton.next_power_of_2(cols), 2048)
    _kernel[(rows,)]({tensors}, y, cols, {factor}, BLOCK=block)
    return y
"""

MATMUL = """

@triton.jit
def _kernel(
    a_ptr, b_ptr, c_ptr, m, n, k, factor, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr
):
    rows = tl.program_id(0).to(tl.int64) * BM + tl.arange(0, BM)
    cols = tl.program_id(1).to(tl.int64) * BN + tl.arange(0, BN)
    total = tl.zeros((BM, BN), tl.float32)
    for start in range(0, k, BK):
        inner = start + tl.arange(0, BK)
        a_mask = (rows[:, None] < m) & (inner[None, :] < k)
        b_mask = (inner[:, None] < k) & (cols[None, :] < n)
        a = tl.load(a_ptr + rows[:, None] * k + inner[None, :], mask=a_mask, other=0.0)
        b = tl.load(b_ptr + inner[:, None] * n + cols[None, :], mask=b_mask, other=0.0)
        total = tl.dot(a, b, total, input_precision="ieee")
    # This is the formula of reference.py: replace both.
    c = (total * factor).to(c_ptr.dtype.element_ty)
    c_mask = (rows[:, None] < m) & (cols[None, :] < n)
    tl.store(c_ptr + rows[:, None] * n + cols[None, :], c, mask=c_mask)


def {name}({parameters}):
    m, k = {first}.shape
    n = {second}.shape[1]
    c = torch.empty((m, n), dtype={first}.dtype, device={first}.device)
    grid = (triton.cdiv(m, 64), triton.cdiv(n, 64))
    _kernel[grid]({first}, {second}, c, m, n, k, {factor}, BM=64, BN=64, BK=32)
    return c
"""


def source_of(kind: str, name: str, inputs: list[Input]) -> tuple[str, str]:
    """Returns the sources of the reference and of the oracle. Both define the function `name`."""
    clash = next((one.name for one in inputs if one.name in TAKEN), "")
    if clash:
        raise Refused(
            f"parameter {clash!r}: the kernel of this kind uses the name; taken: {', '.join(TAKEN)}"
        )
    tensors = [one.name for one in inputs if one.type == "tensor"]
    first, others = tensors[0], tensors[1:]
    factor = " * ".join(_factors(inputs)) or "1.0"
    if kind == "matmul":
        formula, kernel, more = f"{first} @ {others[0]}", MATMUL, ""
    elif kind == "rows":
        formula, kernel = f"({' * '.join(tensors)}).sum(-1)", ROWS
        more = "".join(
            f"        term *= tl.load({one}_ptr + offsets, mask=mask, other=0.0).to(tl.float32)\n"
            for one in others
        )
    else:
        formula, kernel = " + ".join([f"2.0 * {first}", *others]), ELEMENTWISE
        formula = f"({formula})"
        more = "".join(
            f"    total += tl.load({one}_ptr + offsets, mask=mask).to(tl.float32)\n"
            for one in others
        )
    parameters = ", ".join(one.name for one in inputs)
    scaled = formula if factor == "1.0" else f"({formula}) * ({factor})"
    reference = (
        f"def {name}({parameters}):\n"
        "    # This is the formula of oracle.py: replace both.\n"
        f"    return {scaled}\n"
    )
    oracle = kernel.format(
        name=name,
        parameters=parameters,
        pointers=", ".join(f"{one}_ptr" for one in tensors),
        tensors=", ".join(tensors),
        first=first,
        second=others[0] if others else "",
        factor=factor,
        more=more,
    )
    return reference, HEAD + oracle


def _factors(inputs: list[Input]) -> list[str]:
    """Returns what the scalars multiply the result by: numbers as they are, and -1 for True."""
    return [
        f"(-1.0 if {one.name} else 1.0)" if one.type == "bool" else f"float({one.name})"
        for one in inputs
        if one.type != "tensor"
    ]
