"""Finds what a new operator's specification must say about the reference: the form of its outputs,
and the number of its operations. For this, the reference runs on the small cases.

    forms = forms_of(request.inputs, "swish", source, cases)
    forms.outputs[0].shape  # ["rows", "2*cols"]"""

from __future__ import annotations

import itertools
from dataclasses import dataclass, replace

import torch
from harness.operator import Case, OperatorError
from harness.operator.own_reference import OwnArgument, OwnReference, Reference
from harness.wire.tensors import DTYPES
from operator_cases import NewCase
from operator_request import BAD_DATA, Input, Refused

MOST_FACTORS = 4  # of a size that is a product of axes
MOST_MULTIPLE = 4096  # the largest number in such a product


@dataclass(frozen=True)
class OutputForm:
    name: str
    dtype: str
    shape: list[str]
    source: str  # the argument that becomes this output, or ""


@dataclass(frozen=True)
class Forms:
    outputs: list[OutputForm]
    flops: str  # a product of a number and axes; "" if PyTorch counts none


def case_of(case: NewCase) -> Case:
    device = torch.device("cpu")
    return Case(case.id, case.axes, DTYPES[case.dtype], case.distribution, device)


def forms_of(inputs: list[Input], entry: str, source: str, cases: list[NewCase]) -> Forms:
    from torch.utils.flop_counter import FlopCounterMode

    arguments = tuple(
        OwnArgument(
            one.name, one.type, one.dtype, one.shape, one.distribution, one.low, one.high, one.value
        )
        for one in inputs
    )
    small = [case for case in cases if case.interpreter]
    shapes: dict[str, list[list[int]]] = {}
    flops = []
    try:
        own = OwnReference(Reference(entry, source, arguments, None))
        for number, case in enumerate(small):
            asked = case_of(case)
            values = own.inputs(asked, number)
            own.shapes(asked)
            with FlopCounterMode(display=False) as counter:
                own.expected(asked, values)
            flops.append(counter.get_total_flops())
            for output in own.outputs:
                shapes.setdefault(output.name, []).append(own.output_shape(output, asked))
    except OperatorError as error:
        raise Refused(f"the reference: {error}", BAD_DATA) from error
    axes = [case.axes for case in small]
    forms = []
    for output in own.outputs:
        found = shapes[output.name]
        if len({len(shape) for shape in found}) != 1:
            raise Refused(f"output {output.name} has another number of dimensions in each case")
        named = [
            _size(output.name, [shape[i] for shape in found], axes) for i in range(len(found[0]))
        ]
        form = OutputForm(output.name, output.dtype, named, output.source)
        if form.source:
            given = next(one for one in inputs if one.name == form.source)
            form = replace(form, shape=list(given.shape))
        forms.append(form)
    return Forms(forms, _product(flops, axes) if all(flops) else "")


def _size(output: str, sizes: list[int], axes: list[dict[str, int]]) -> str:
    found = _product(sizes, axes)
    if found:
        return found
    names = ", ".join(axes[0])
    raise Refused(
        f"a dimension of output {output} has the sizes {', '.join(map(str, sizes))}, which no "
        f"product of a number and the axes {names} gives; an operator cannot have this output"
    )


def _product(sizes: list[int], axes: list[dict[str, int]]) -> str:
    """Returns a product such as "2*n", of which the axes of each case give the size. The shortest
    one is taken. Returns "" if there is none."""
    names = list(axes[0])
    for count in range(min(len(names) * 2, MOST_FACTORS) + 1):
        for chosen in itertools.combinations_with_replacement(names, count):
            factors = []
            for size, case in zip(sizes, axes, strict=True):
                value = 1
                for name in chosen:
                    value *= case[name]
                factors.append(size / value)
            factor = factors[0]
            if len(set(factors)) == 1 and factor.is_integer() and 1 <= factor <= MOST_MULTIPLE:
                words = [str(int(factor))] if factor != 1 or not chosen else []
                return "*".join([*words, *chosen])
    return ""
