"""Chooses the cases of a new operator: small ones for Triton's interpreter, and large ones that a
GPU times.

    cases = cases_of(request)
    cases[0].axes  # {"n": 257}

A large public case has a hidden twin: the same axes, and inputs for which a shortcut is wrong
(docs/reference/operator-format.md)."""

from __future__ import annotations

import math
from dataclasses import dataclass

from harness.operator.spec import extent
from harness.wire.tensors import DTYPES
from operator_request import Input, Refused, Request

# The distribution of hidden cases in which the values of each tensor ascend.
ASCENDING = "ascending"
LARGEST_BYTES = 256 << 20  # of the tensors of a large case whose sizes the author does not name
LONGEST_AXIS = 1 << 24
# The distributions of hidden small cases of matrix products in float16: a rounding of an input to
# bfloat16 shows, or a sum in float16. Each is named after the function of Rng that makes its inputs.
PRODUCTS = ("picks", "swells")
PRODUCT_SIZES = (9, 256, 13)  # m, k, n
# The sizes of the small cases. No size is a multiple of a usual block, and most are odd. The first
# row is for operators with one axis, the second for those with two, and so on.
SMALL = (
    ((257,), (1000,), (2049,), (4097,), (511,), (3001,), (1537,)),
    ((7, 333), (33, 64), (16, 129), (61, 47), (5, 257), (29, 100), (12, 65)),
    (
        (33, 17, 40),
        (16, 64, 31),
        (20, 9, 65),
        (65, 30, 16),
        (13, 33, 50),
        (31, 31, 31),
        (40, 24, 9),
    ),
)
# The sizes of further axes.
FEW = (3, 5, 4, 7, 2, 6, 8)
# The largest size that the author names and a small case may have, by the number of axes.
SMALL_LIMITS = {1: 8192, 2: 512, 3: 128}
FEW_LIMIT = 16
PUBLIC_SMALL, HIDDEN_SMALL = 4, 3
INTERPRETER_DTYPES = {"bfloat16": "float32"}  # the interpreter computes bfloat16 wrongly


@dataclass(frozen=True)
class NewCase:
    id: str
    hidden: bool
    interpreter: bool
    dtype: str
    axes: dict[str, int]
    distribution: str


def axes_of(request: Request) -> list[str]:
    """Returns the axes of the inputs, in the order in which they occur."""
    names: list[str] = []
    for one in request.inputs:
        for product in (*one.shape, one.value if one.type == "int" else "", one.low, one.high):
            for factor in product.split("*"):
                if factor.isidentifier() and factor not in names:
                    names.append(factor)
    unknown = sorted(set(request.axes) - set(names))
    if unknown:
        raise Refused(f"no input has the axis {unknown[0]!r}; the axes are {', '.join(names)}")
    if not names:
        raise Refused("no input has an axis, such as x=f32[{n}]; an operator needs several sizes")
    return names


def case_dtype(inputs: list[Input]) -> str:
    """Returns the dtype that `dtype = "case"` stands for: that of the first tensor with floats."""
    tensors = [one.dtype for one in inputs if one.type == "tensor"]
    floats = [dtype for dtype in tensors if DTYPES[dtype].is_floating_point]
    if not tensors:
        raise Refused("no input is a tensor; an operator needs one, such as x=f32[{n}]")
    return (floats or tensors)[0]


def cases_of(request: Request) -> list[NewCase]:
    names = axes_of(request)
    dtype = case_dtype(request.inputs)
    small_dtype = INTERPRETER_DTYPES.get(dtype, dtype)
    fixed = {
        name: values[0]
        for name, values in request.axes.items()
        if len(values) == 1 and len(names) > 1
    }
    if len(fixed) == len(names):
        fixed = {}

    small = _small_sizes(request.axes, names, fixed)
    cases = [
        NewCase(f"small_{i + 1}", False, True, small_dtype, small[i], "typical")
        for i in range(PUBLIC_SMALL)
    ]
    large = _large(request, names, fixed)
    odd = {
        name: size if name in fixed else max(1, size - size // 8 - 1)
        for name, size in large.items()
    }
    cases.append(NewCase("large", False, False, dtype, large, "typical"))
    for i in range(HIDDEN_SMALL):
        distribution = ASCENDING if i == 0 else "typical"
        axes = small[PUBLIC_SMALL + i]
        cases.append(NewCase(f"hidden_small_{i + 1}", True, True, small_dtype, axes, distribution))
    for distribution in PRODUCTS if is_float16_product(request) else ():
        axes = product_axes(request)
        cases.append(NewCase(f"hidden_{distribution}", True, True, dtype, axes, distribution))
    cases.append(NewCase("hidden_odd", True, False, dtype, odd, "typical"))
    cases.append(NewCase("hidden_large", True, False, dtype, large, ASCENDING))
    return cases


def is_float16_product(request: Request) -> bool:
    return request.kind == "matmul" and case_dtype(request.inputs) == "float16"


def product_axes(request: Request) -> dict[str, int]:
    """Returns the axes m, k and n of a matrix product with their sizes, in this order."""
    a, b = [one.shape for one in request.inputs if one.type == "tensor"]
    return dict(zip((*a, b[1]), PRODUCT_SIZES, strict=True))


def _small_sizes(
    given: dict[str, list[int]], names: list[str], fixed: dict[str, int]
) -> list[dict[str, int]]:
    """Returns the axes of the small cases, without repetitions: first the small ones of the sizes
    that the author names, and then the sizes of SMALL."""
    free = [name for name in names if name not in fixed]
    limit = SMALL_LIMITS.get(len(free), FEW_LIMIT)
    usable = {
        name: [size for size in sizes if size <= limit]
        for name, sizes in given.items()
        if name in free and len(sizes) > 1
    }

    def usual(name: str, number: int) -> int:
        place = free.index(name)
        if len(free) <= len(SMALL):
            return SMALL[len(free) - 1][number][place]
        return FEW[(number + place) % len(FEW)]

    def axes(number: int, named: bool) -> dict[str, int]:
        sizes = {}
        for name in names:
            own = usable.get(name, []) if named else []
            sizes[name] = fixed.get(name) or (
                own[number] if number < len(own) else usual(name, number)
            )
        return sizes

    wanted = PUBLIC_SMALL + HIDDEN_SMALL
    own_rows = min(wanted, max(map(len, usable.values()), default=0))
    found: list[dict[str, int]] = []
    for one in (
        *(axes(i, True) for i in range(own_rows)),
        *(axes(i, False) for i in range(wanted)),
    ):
        if one not in found:
            found.append(one)
    return found[:wanted]


def _large(request: Request, names: list[str], fixed: dict[str, int]) -> dict[str, int]:
    """Returns the largest sizes that the author names. Every other axis has the largest power of
    two with which the tensors fit into LARGEST_BYTES."""
    known = {name: values[-1] for name, values in request.axes.items() if len(values) > 1}
    known.update(fixed)
    size = LONGEST_AXIS
    while size > 1:
        axes = {name: known.get(name, size) for name in names}
        if len(known) == len(names) or _bytes(request.inputs, axes) <= LARGEST_BYTES:
            return axes
        size //= 2
    raise Refused(
        f"the inputs take more than {LARGEST_BYTES >> 20} MiB, whatever the other sizes are; name "
        "the sizes of all axes, such as --n 1000,100003"
    )


def _bytes(inputs: list[Input], axes: dict[str, int]) -> int:
    total = 0
    for one in inputs:
        if one.type == "tensor":
            count = math.prod(int(extent(size, axes)) for size in one.shape)
            total += count * DTYPES[one.dtype].itemsize
    return total
