"""Writes the texts of a new operator's files (docs/reference/operator-format.md).

    texts = {"spec.toml": spec_text(request, forms, cases, scales), ...}

A place that the author must fill in has the words FILL IN. `assay operators lint` lists these
places, and the operator is not sound as long as there is one."""

from __future__ import annotations

import json
import keyword
import re

from harness.operator.own_reference import INTEGERS
from harness.wire.tensors import DTYPES
from operator_cases import (
    ASCENDING,
    PRODUCTS,
    NewCase,
    case_dtype,
    is_float16_product,
    product_axes,
)
from operator_forms import Forms
from operator_request import Input, Refused, Request
from operator_sources import fitting_source

TOLERANCE = 0.01
# The families of which lint demands a shortcut that an adversarial distribution makes wrong.
SHORTCUT_FAMILIES = ("attention", "scan", "softmax")
HALVES = ("float16", "bfloat16")
ANNOTATIONS = {"tensor": "Tensor", "int": "int", "float": "float", "bool": "bool"}


def signature_of(request: Request, forms: Forms) -> str:
    returned = sum(not one.source for one in forms.outputs)
    result = ("None", "Tensor")[returned] if returned < 2 else ""
    result = result or f"tuple[{', '.join(['Tensor'] * returned)}]"
    given = ", ".join(f"{one.name}: {ANNOTATIONS[one.type]}" for one in request.inputs)
    return f"{request.name}({given}) -> {result}"


def spec_text(
    request: Request, forms: Forms, cases: list[NewCase], scales: dict[str, float]
) -> str:
    dtype = case_dtype(request.inputs)
    summary = request.summary or f"{request.name.replace('_', ' ').capitalize()}"
    lines = [
        f"name = {_quoted(request.name)}",
        f"split = {_quoted(request.split)}",
        f"family = {_quoted(request.family)}",
        'dialect = "triton"',
        f"difficulty = {request.difficulty}",
        f"summary = {_quoted(summary)}",
        f"description = {_quoted(request.description or _description(request, forms))}",
        f"entry = {_quoted(request.name)}",
        f"signature = {_quoted(signature_of(request, forms))}",
    ]
    changed = [one.source for one in forms.outputs if one.source]
    for one in request.inputs:
        lines += ["", "[[arguments]]", f"name = {_quoted(one.name)}", f"type = {_quoted(one.type)}"]
        if one.type == "tensor":
            lines += [f"dtype = {_quoted(_dtype(one.dtype, dtype))}", f"shape = {_list(one.shape)}"]
        lines += [
            f'role = "{"inout" if one.name in changed else "input"}"',
            f"description = {_quoted(_told(one))}",
        ]
    for output in forms.outputs:
        exact = not DTYPES[output.dtype].is_floating_point
        lines += [
            "",
            "[[outputs]]",
            f"name = {_quoted(output.name)}",
            f"dtype = {_quoted(_dtype(output.dtype, dtype))}",
            f"shape = {_list(output.shape)}",
            f"max_abs_error = {0 if exact else TOLERANCE}",
        ]
        lines += [] if exact else [f"scale = {scales.get(output.name, 1.0):g}"]
        lines += [f"from = {_quoted(output.source)}"] if output.source else []
    lines += ["", "[[adversarial]]", f'distribution = "{ASCENDING}"']
    if request.family in SHORTCUT_FAMILIES:
        lines += [
            f"# FILL IN: `breaks` of family {request.family} has skip_negligible, forget_past or "
            "drop_maximum, and inputs() makes this shortcut wrong.",
        ]
    lines += [
        'breaks = ["part_of_data"]',
        'why = "The values ascend, so that a part of the data does not tell what the rest is."',
    ]
    for case in cases:
        axes = ", ".join(f"{name} = {size}" for name, size in case.axes.items())
        lines += [
            "",
            "[[cases]]",
            f"id = {_quoted(case.id)}",
            f'visibility = "{"hidden" if case.hidden else "public"}"',
            f"interpreter = {str(case.interpreter).lower()}",
            f"dtype = {_quoted(case.dtype)}",
            f"axes = {{ {axes} }}",
            f"distribution = {_quoted(case.distribution)}",
        ]
    return "\n".join(lines) + "\n"


def reference_text(request: Request, forms: Forms, source: str, function: str) -> str:
    source, function = fitting_source(source, function)
    names = [one.name for one in request.inputs]
    changed = [one.source for one in forms.outputs if one.source]
    title = (request.summary or f"Computes {request.name}").rstrip(".")
    typed = ", ".join(f"{one.name}: {ANNOTATIONS[one.type]}" for one in request.inputs)
    returned = [one for one in forms.outputs if not one.source]
    result = "Tensor" if len(forms.outputs) == 1 else "tuple[Tensor, ...]"
    lines = [
        f'"""{title}."""',
        "",
        "from __future__ import annotations",
        "",
        "import torch",
        "from harness.operator import Case, Cost, Rng",
        "from torch import Tensor",
        "",
        "",
        source.strip("\n"),
        "",
        "",
        *_inputs(request),
        "",
        "",
        f"def reference({typed}) -> {result}:",
    ]
    halves = [one.name for one in request.inputs if one.dtype in HALVES]
    if halves:
        lines += ["    # A result in half precision is rounded once, at the end."]
    wide = [f"_wide({name})" if name in halves else name for name in names]
    for name in changed:
        own = f"{name}.clone()" if name not in halves else f"_wide({name}).clone()"
        lines.append(f"    {name}_after = {own}")
        wide[names.index(name)] = f"{name}_after"
    call = f"{function}({', '.join(wide)})"
    values = []
    if not returned:
        lines.append(f"    {call}")
    elif len(returned) == 1:
        lines.append(f"    value = {call}")
        values = ["value"]
    else:
        values = [f"value_{i}" for i in range(len(returned))]
        lines.append(f"    {', '.join(values)} = {call}")
    values += [f"{name}_after" for name in changed]
    results = []
    for value, output in zip(values, forms.outputs, strict=True):
        if not halves or output.dtype not in HALVES:
            results.append(value)
            continue
        alike = next((one.name for one in request.inputs if one.dtype == output.dtype), "")
        results.append(
            f"{value}.to({alike}.dtype)" if alike else f"_narrow({value}, torch.{output.dtype})"
        )
    lines.append(f"    return {', '.join(results)}")
    if halves:
        lines += [
            "",
            "",
            "def _wide(value: Tensor) -> Tensor:",
            "    return value if value.dtype == torch.float64 else value.float()",
        ]
    if any("_narrow(" in one for one in results):
        lines += [
            "",
            "",
            "def _narrow(value: Tensor, dtype: torch.dtype) -> Tensor:",
            "    return value if value.dtype == torch.float64 else value.to(dtype)",
        ]
    return "\n".join([*lines, "", "", *_cost(request, forms)]) + "\n"


def check_names(request: Request, axes: list[str]) -> None:
    """Refuses names that a specification or Python does not allow."""
    named = [("input", one.name) for one in request.inputs] + [("axis", name) for name in axes]
    for what, name in named:
        if not re.fullmatch(r"[a-z][a-z0-9_]*", name) or keyword.iskeyword(name):
            raise Refused(
                f"{what} {name!r}: in an operator, a name begins with a lower-case letter and has "
                "lower-case letters, digits and '_'; a word of Python is no name"
            )
    names = [one.name for one in request.inputs]
    twice = next((name for name in names if names.count(name) > 1), "")
    if twice:
        raise Refused(f"input {twice!r} is named twice")


def _inputs(request: Request) -> list[str]:
    dtype = case_dtype(request.inputs)
    lines = ["def inputs(case: Case, rng: Rng) -> dict[str, Tensor | int | float | bool]:"]
    if any(_has_axis(one) for one in request.inputs):
        lines.append("    axes = case.axes")
    scalars = [one for one in request.inputs if one.type != "tensor" and not _has_axis(one)]
    if scalars:
        lines += [
            "    # A scalar has another value in half of the small cases, so that no kernel can",
            "    # ignore it. In the large cases, which are timed, it has one value.",
            '    other = case.id.endswith(("small_2", "small_4"))',
        ]
    lines.append("    made: dict[str, Tensor | int | float | bool] = {}")
    for one in request.inputs:
        lines.append(f'    made["{one.name}"] = {_value(one, dtype)}')
    ascending = [one.name for one in request.inputs if _can_ascend(one)]
    if ascending:
        shown = ", ".join(f'"{name}"' for name in ascending) + ("," if len(ascending) == 1 else "")
        lines += [
            f'    if case.distribution == "{ASCENDING}":',
            f"        for name in ({shown}):",
            "            value = made[name]",
            "            assert isinstance(value, Tensor)",
            "            made[name] = value.flatten().sort().values.reshape(value.shape)",
        ]
    else:
        lines.append(
            f'    # FILL IN: the distribution "{ASCENDING}" must differ from the usual one.'
        )
    if is_float16_product(request):
        sizes = ", ".join(f'axes["{name}"]' for name in product_axes(request))
        a, b = [one.name for one in request.inputs if one.type == "tensor"]
        lines.append("    # The losses of bfloat16 inputs and of float16 sums show in these cases.")
        for distribution in PRODUCTS:
            # The tolerance is that of typical sums, so the elements that picks() shows are larger.
            left = "(16.0 * left)" if distribution == "picks" else "left"
            lines += [
                f'    if case.distribution == "{distribution}":',
                f"        left, right = rng.{distribution}({sizes})",
                f'        made["{a}"] = {left}.to(case.dtype)',
                f'        made["{b}"] = right.to(case.dtype)',
            ]
    return [*lines, "    return made"]


def _has_axis(one: Input) -> bool:
    return any(
        factor.isidentifier() and factor not in ("true", "false")
        for product in (*one.shape, one.value, one.low, one.high)
        for factor in product.split("*")
    )


def _can_ascend(one: Input) -> bool:
    return one.type == "tensor" and one.distribution in ("default", "normal", "uniform", "range")


def _value(one: Input, dtype: str) -> str:
    """Returns the expression of an argument's value. It follows sandbox/harness/operator/
    own_reference.py, which makes the inputs of a check."""
    if one.type == "bool":
        return f"{one.value == 'true'} != other"
    if one.type != "tensor":
        if _has_axis(one):
            return _product(one.value)
        if one.type == "int":
            return f"{int(one.value) + 1} if other else {int(one.value)}"
        value = float(one.value)
        return f"{value / 2 if value else 0.5!r} if other else {value!r}"
    shape = "".join(f"{_product(size)}, " for size in one.shape)
    shape = f"({shape.rstrip() if len(one.shape) == 1 else shape.rstrip(', ')})"
    of = "case.dtype" if one.dtype == dtype else f"torch.{one.dtype}"
    if one.distribution in ("zeros", "ones"):
        return f"torch.{one.distribution}({shape}, dtype={of}, device=case.device)"
    count = " * ".join(_product(size) for size in one.shape) or "1"
    if one.distribution == "arange":
        return f"torch.arange({count}, device=case.device).reshape({shape}).to({of})"
    if one.distribution == "perm":
        return f"rng.permutation({count}).reshape({shape}).to({of})"
    if one.distribution == "offsets":
        raise Refused(
            f"input {one.name}: the distribution offsets is for checks only; an operator's offsets "
            "are structural, so write its folder by hand (docs/how-to/add-an-operator.md)"
        )
    if one.dtype == "bool":
        return f"rng.integers({shape}, 0, 2).to({of})"
    if one.distribution == "uniform":
        low, high = _product(one.low or "0"), _product(one.high or "1")
        return f"rng.uniform({shape}, {of}, {low}, {high})"
    if one.distribution == "range" or not DTYPES[one.dtype].is_floating_point:
        first, end = INTEGERS.get(DTYPES[one.dtype], (0, 2))
        low, high = _product(one.low or str(first)), _product(one.high or str(end))
        return f"rng.integers({shape}, {low}, {high}, {of})"
    return f"rng.normal({shape}, {of})"


def _product(text: str) -> str:
    """Returns "2*n" as an expression of Python."""
    return " * ".join(
        f'axes["{factor}"]' if factor.isidentifier() else factor for factor in text.split("*")
    )


def _cost(request: Request, forms: Forms) -> list[str]:
    dtype = case_dtype(request.inputs)
    shapes = [(one.shape, one.dtype) for one in request.inputs if one.type == "tensor"]
    shapes += [(one.shape, one.dtype) for one in forms.outputs]
    lines = ["def cost(case: Case) -> Cost:", "    axes = case.axes", "    moved = 0"]
    for shape, name in shapes:
        size = "case.dtype.itemsize" if name == dtype else str(DTYPES[name].itemsize)
        lines.append(f"    moved += {' * '.join([*(_product(one) for one in shape), size])}")
    flops = _product(forms.flops) if forms.flops else ""
    if not flops:
        counts = [
            " * ".join(_product(one) for one in output.shape) or "1" for output in forms.outputs
        ]
        flops = " + ".join(counts)
        lines.append("    # At least one operation for each element of an output.")
    return [*lines, f"    return Cost(bytes=moved, flops={flops})"]


def _description(request: Request, forms: Forms) -> str:
    """Describes the operator from what is known: its arguments and outputs. The reference, which
    agents see, says the rest."""
    lines = [f"{signature_of(request, forms)} computes what the reference computes.", ""]
    for one in request.inputs:
        what = (
            f"{one.dtype} of shape ({', '.join(one.shape)})" if one.type == "tensor" else one.type
        )
        lines.append(f"{one.name}: {what}; {_told(one)}.")
    for output in forms.outputs:
        how = f"the new contents of {output.source}" if output.source else "returned, new"
        lines.append(f"{output.name} ({how}): {output.dtype} of shape ({', '.join(output.shape)}).")
    changed = [one.source for one in forms.outputs if one.source]
    others = "Other inputs" if changed else "Inputs"
    lines += ["", f"Sizes are any positive integers. {others} must not be modified."]
    return "\n".join(lines)


def _told(one: Input) -> str:
    if one.type != "tensor":
        return f"for example {one.value}"
    if one.distribution == "default" and DTYPES[one.dtype].is_floating_point:
        return "contiguous, from the normal distribution"
    if one.distribution in ("uniform", "range"):
        return f"contiguous, from {one.low or 0} up to {one.high or 1}"
    return "contiguous" if one.distribution == "default" else f"contiguous, {one.distribution}"


def _dtype(dtype: str, case: str) -> str:
    return "case" if dtype == case else dtype


def _quoted(text: str) -> str:
    """Returns a TOML string. JSON's escapes are TOML's, but for DEL."""
    if "\n" not in text:
        return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")
    escaped = "\n".join(json.dumps(line, ensure_ascii=False)[1:-1] for line in text.split("\n"))
    return f'"""\n{escaped.strip()}\n"""'


def _list(shape: list[str] | tuple[str, ...]) -> str:
    sizes = (size if size.isdigit() else _quoted(size) for size in shape)
    return f"[{', '.join(sizes)}]"
