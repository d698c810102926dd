"""Writes the arguments of a call as Python text for an adapter.

names = names_of(call)  # a name for each leaf, or "" for a constant
text = expression(call.args, iter(zip(names, leaves(call.args))))"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "sandbox"))

import torch  # noqa: E402
import triton.language as tl  # noqa: E402
from harness.imported.grids import Grid  # noqa: E402
from harness.imported.proxies import made_with, state  # noqa: E402

NUMBERS = {int: "int", float: "float", bool: "bool"}
Leaves = Iterator[tuple[str, Any]]
# Python text of an adapter. It makes a module of torch.nn from its attributes and its tensors.
MODULE = '''def _module(kind, attributes, tensors):
    """Makes a module of torch.nn that has these attributes, and these parameters and buffers."""
    made = kind.__new__(kind)
    torch.nn.Module.__init__(made)
    made.__dict__.update(attributes)
    for name, tensor in tensors.items():
        made.register_buffer(name, tensor)
    return made
'''
_PLAIN = (bool, int, float, str, type(None))


def constant(value: Any) -> str | None:
    """Returns a Python expression for the value, or None if there is no such expression."""
    if value is None or isinstance(value, str):
        return repr(value)
    if isinstance(value, torch.dtype):
        return str(value)
    if isinstance(value, torch.device):
        return f"torch.device({str(value)!r})"
    if isinstance(value, torch.Size):
        return f"torch.Size({list(value)})"
    if isinstance(value, tl.dtype) and type(value) is tl.dtype:
        return f"triton.language.dtype({value.name!r})"
    return None


def unwritable_object(value: Any) -> bool:
    """Returns True if `value` is a module of torch.nn that the adapter cannot make: it has modules
    inside, or attributes that cannot be written."""
    if made_with(value) is not None or not isinstance(value, torch.nn.Module):
        return False
    kind = type(value)
    is_known = kind.__module__.startswith("torch.nn.") and hasattr(torch.nn, kind.__name__)
    return not is_known or any(True for _ in value.children()) or _attributes(value) is None


def _attributes(module: torch.nn.Module) -> dict[str, Any] | None:
    """Returns the attributes that the class itself defines, or None if one cannot be written."""
    own = vars(torch.nn.Module())
    found = {name: value for name, value in vars(module).items() if name not in own}
    plain = all(
        isinstance(item, _PLAIN)
        for value in found.values()
        for item in (value if isinstance(value, tuple | list) else (value,))
    )
    return {**found, "training": module.training} if plain else None


def expression(value: Any, leaves: Leaves) -> str:
    """Returns a Python expression for a nested structure. Each leaf is replaced by its name."""
    if type(value) is tuple:
        return "(" + "".join(expression(item, leaves) + ", " for item in value) + ")"
    if type(value) is list:
        return "[" + ", ".join(expression(item, leaves) for item in value) + "]"
    if type(value) is dict:
        items = (f"{key!r}: {expression(item, leaves)}" for key, item in value.items())
        return "{" + ", ".join(items) + "}"
    if isinstance(value, Grid):
        return value.text({name: next(leaves)[0] for name in value.values})
    if (made := made_with(value)) is not None:
        kind, args, kwargs = made
        return f"{kind.__name__}({arguments(args, kwargs, leaves)})"
    if isinstance(value, torch.nn.Module):
        tensors = {name: next(leaves)[0] for name in state(value)}
        written = ", ".join(f"{name!r}: {argument}" for name, argument in tensors.items())
        return f"_module(torch.nn.{type(value).__name__}, {_attributes(value)!r}, {{{written}}})"
    name, leaf = next(leaves)
    return name or str(constant(leaf))


def arguments(args: Any, kwargs: Any, leaves: Leaves) -> str:
    """Returns the arguments of a call as they stand between its brackets."""
    words = [expression(item, leaves) for item in args]
    for name, item in kwargs.items():
        written = expression(item, leaves)
        words.append(f"{name}={written}" if name.isidentifier() else f"**{{{name!r}: {written}}}")
    return ", ".join(words)
