"""Triton's interpreter, switched on after Triton was imported.

switch_to_interpreter()
"""

from __future__ import annotations

import os
import sys
from typing import Any

import triton.language as tl
from triton import knobs
from triton.runtime import interpreter
from triton.runtime.interpreter import InterpretedFunction
from triton.runtime.jit import JITFunction


def switch_to_interpreter() -> None:
    """From now on `@triton.jit` makes interpreted functions, and so does everything Triton's own library was decorated with."""
    os.environ["TRITON_INTERPRET"] = "1"
    knobs.runtime.interpret = True
    made: dict[int, Any] = {}

    def interpreted(function: Any) -> Any:
        if id(function) not in made:
            made[id(function)] = InterpretedFunction(function.fn, debug=function.debug, noinline=function.noinline)
        return made[id(function)]

    _patch_index()
    # Bottom up does not matter: library functions find each other through their modules' names at call time.
    for name, module in list(sys.modules.items()):
        if not name.startswith("triton.language"):
            continue
        for attribute, value in list(vars(module).items()):
            if type(value) is JITFunction:
                setattr(module, attribute, interpreted(value))
    for attribute, value in list(vars(tl.tensor).items()):
        library = getattr(tl.standard, attribute, None)
        if callable(value) and isinstance(library, InterpretedFunction) and not isinstance(value, InterpretedFunction):
            setattr(tl.tensor, attribute, _member(library))


def _patch_index() -> None:
    """Scalars are arrays of one element in the interpreter, and numpy from 2.4 on refuses int() of those: loop bounds need it."""
    original = interpreter._patch_lang_tensor

    def patch(tensor: Any, scope: Any) -> None:
        original(tensor, scope)
        scope.set_attr(tensor, "__index__", lambda self: int(self.handle.data.item()))

    interpreter._patch_lang_tensor = patch


def _member(function: Any) -> Any:
    def call(*args: Any, **kwargs: Any) -> Any:
        return function(*args, **kwargs)

    return call
