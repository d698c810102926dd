"""The form of what a call of a golden file's kernel part returns: its structure, the dtype and the
shape of each tensor, and the values of everything else.

    form = form_of((x, 2.0, None))  # ["tuple", ["tensor", "float32", [4]], ["value", 2.0], ...]
    zeros = blank(form, [])  # what the test part gets without a GPU
    tensors_of(form)  # [("float32", [4])]

A form is JSON, so a reference.py can contain it."""

from __future__ import annotations

import math
from typing import Any

import torch
from torch.utils._pytree import tree_flatten

from harness.wire.tensors import DTYPES, NAMES

Form = list[Any]
_PLAIN = (bool, int, float, str, type(None))
_SEQUENCES = {"tuple": tuple, "list": list}


def form_of(value: Any) -> Form | None:
    """Returns None if a tensor has a dtype that no operator has."""
    if isinstance(value, torch.Tensor):
        return ["tensor", NAMES[value.dtype], list(value.shape)] if value.dtype in NAMES else None
    for name, kind in _SEQUENCES.items():
        if type(value) is kind:
            items = [form_of(item) for item in value]
            return None if None in items else [name, *items]
    if type(value) is dict and all(isinstance(key, str) for key in value):
        entries = {key: form_of(item) for key, item in value.items()}
        return None if None in entries.values() else ["dict", entries]
    if type(value) in _PLAIN:
        # A reference.py contains the form as Python text, which has no word for infinity.
        finite = type(value) is not float or math.isfinite(value)
        return ["value", value if finite else 0.0]
    tensors = [form_of(leaf) for leaf in tree_flatten(value)[0] if isinstance(leaf, torch.Tensor)]
    return None if None in tensors else ["object", *tensors]


def tensors_of(form: Form) -> list[tuple[str, list[int]]]:
    """Returns the dtype and the shape of each tensor, in order."""
    kind, *items = form
    if kind == "tensor":
        return [(items[0], items[1])]
    if kind == "value":
        return []
    inner = items[0].values() if kind == "dict" else items
    return [tensor for item in inner for tensor in tensors_of(item)]


def blank(form: Form, sources: list[torch.Tensor]) -> Any:
    """Returns a value of this form whose tensors contain zeros. A float tensor depends on the
    tensors `sources`, so a backward pass gives each of them a gradient. An object of another class
    is replaced by its tensors, because it cannot be made again."""
    kind, *items = form
    if kind == "tensor":
        made = torch.zeros(items[1], dtype=DTYPES[items[0]])
        if not made.is_floating_point():
            return made
        for source in sources:
            made = made + 0 * source.sum().to(made.dtype)
        return made
    if kind == "value":
        return items[0]
    if kind == "dict":
        return {key: blank(item, sources) for key, item in items[0].items()}
    made = [blank(item, sources) for item in items]
    if kind == "object":
        return made[0] if len(made) == 1 else tuple(made) or None
    return _SEQUENCES[kind](made)
