"""Switches Triton to its interpreter after Triton was imported.

    switch_to_interpreter()
    check_accesses(bounds, refusals)

After these calls, each launch runs inside bounds.launch(arguments), and each access to memory calls
bounds.translate(...) first."""

from __future__ import annotations

import contextlib
import copy
import inspect
import os
import sys
from collections.abc import Callable, Iterator
from typing import Any, Protocol

import numpy as np
import triton.language as tl
from triton import knobs
from triton.runtime import interpreter
from triton.runtime.interpreter import GridExecutor, InterpretedFunction, InterpreterBuilder
from triton.runtime.jit import JITFunction

from harness.entry.refusals import Refusals
from harness.interpreting.program_order import ReversedPrograms
from harness.triton_adapter.hardware import as_hardware
from harness.triton_adapter.plain_arguments import Pointer, plain, with_fixed_addresses
from harness.triton_adapter.reductions import combine_slices


def switch_to_interpreter() -> None:
    """Makes `@triton.jit` create interpreted functions from now on, and converts the functions of
    Triton's own library."""
    os.environ["TRITON_INTERPRET"] = "1"
    knobs.runtime.interpret = True
    convert_library()


@contextlib.contextmanager
def interpreted_kernels() -> Iterator[None]:
    """While the context is active, `@triton.jit` creates interpreted functions. Needs a call of
    convert_library() before."""
    before = knobs.runtime.interpret
    knobs.runtime.interpret = True
    try:
        yield
    finally:
        knobs.runtime.interpret = before


def convert_library() -> None:
    """Converts the functions of Triton's own library to interpreted ones."""
    made: dict[int, Any] = {}

    def interpreted(function: Any) -> Any:
        if id(function) not in made:
            made[id(function)] = InterpretedFunction(
                function.fn, debug=function.debug, noinline=function.noinline
            )
        return made[id(function)]

    _patch_index()
    _patch_constexprs()
    # The modules can be converted in any order. The reason is that a library function that calls
    # another library function looks it up in a module at each call.
    for name, module in list(sys.modules.items()):
        if not name.startswith("triton.language"):
            continue
        for attribute, value in list(vars(module).items()):
            if type(value) is JITFunction:
                setattr(module, attribute, interpreted(value))
    for attribute, value in list(vars(tl.tensor).items()):
        library = getattr(tl.standard, attribute, None)
        if (
            callable(value)
            and isinstance(library, InterpretedFunction)
            and not isinstance(value, InterpretedFunction)
        ):
            setattr(tl.tensor, attribute, _member(library))


def _patch_index() -> None:
    """Adds a conversion of tensors to Python integers, which loop bounds need. In the interpreter,
    scalars are arrays of one element. From version 2.4 on, numpy refuses int() for such arrays."""
    original = interpreter._patch_lang_tensor

    def patch(tensor: Any, scope: Any) -> None:
        original(tensor, scope)
        scope.set_attr(tensor, "__index__", lambda self: int(self.handle.data.item()))

    interpreter._patch_lang_tensor = patch


def _patch_constexprs() -> None:
    """Makes the interpreter find constexpr parameters as Triton's compiler does: by the word in the
    annotation. Without this, it misses the annotation "tl.constexpr" in quotes, because it compiles
    a kernel anew with annotations as text, which quotes the annotation once more."""
    original = GridExecutor.__init__

    def init(executor: Any, fn: Any, arg_names: Any, *args: Any) -> None:
        original(executor, fn, arg_names, *args)
        annotations = getattr(fn, "__annotations__", {})
        executor.constexprs = [
            name for name in arg_names if "constexpr" in str(annotations.get(name, ""))
        ]

    GridExecutor.__init__ = init


def _member(function: Any) -> Any:
    def call(*args: Any, **kwargs: Any) -> Any:
        return function(*args, **kwargs)

    return call


def check_accesses(bounds: Checks, refusals: Refusals, reverse: bool = False) -> None:
    """Checks and translates the addresses of every memory access. Loads, stores and atomics of all
    forms (pointers, block pointers, descriptors) call one of four functions of one native module,
    and these four functions are wrapped. Triton's step that copies the arguments to the host is
    left out, so kernels work on the tensors themselves. If the interpreter cannot run an operation,
    the error is recorded in `refusals`. If `reverse` is true, the programs of a grid run in reverse
    order (program_order.py)."""
    programs = ReversedPrograms(interpreter._interpreter) if reverse else None
    interpreter._interpreter = _Checked(interpreter._interpreter, bounds, programs)
    as_hardware(refusals)
    combine_slices()
    launch = GridExecutor.__call__

    def bounded(executor: Any, *args: Any, **kwargs: Any) -> Any:
        # A GPU computes infinities and NaN silently. numpy would print warnings, which would look
        # like the submission's own output.
        silent = np.errstate(all="ignore")
        with silent, bounds.launch(dict(zip(executor.arg_names, args, strict=False)) | kwargs):
            return launch(executor, *args, **kwargs)

    GridExecutor.__call__ = bounded
    if programs is not None:
        _reverse(programs)
    GridExecutor._init_args_hst = lambda _, args, kwargs: (list(args), kwargs)
    GridExecutor._restore_args_dev = lambda *_: None


def _reverse(programs: ReversedPrograms) -> None:
    """Makes Triton's interpreter run the programs of a grid in the order that `programs`
    chooses."""
    launch, set_dim = GridExecutor.__call__, InterpreterBuilder.set_grid_dim
    set_index = InterpreterBuilder.set_grid_idx

    def begin(builder: Any, *grid: int) -> None:
        set_dim(builder, *grid)
        programs.begin(grid)  # type: ignore[arg-type]

    def ended(executor: Any, *args: Any, **kwargs: Any) -> Any:
        result = launch(executor, *args, **kwargs)
        programs.end()
        return result

    InterpreterBuilder.set_grid_dim = begin
    InterpreterBuilder.set_grid_idx = lambda builder, *at: set_index(builder, *programs.next(*at))
    GridExecutor.__call__ = ended


def launch_nothing_interpreted() -> None:
    """Makes every launch of an interpreted kernel do nothing, except that it calls the submission's
    functions: the hooks and the grid."""

    def nothing(executor: Any, *args: Any, **kwargs: Any) -> None:
        _with_fixed_grid(executor, args, kwargs)

    GridExecutor.__call__ = nothing


def watch_interpreted(around: Callable[[Any], contextlib.AbstractContextManager[Any]]) -> None:
    """Enters the context `around` of its arguments for each launch of an interpreted kernel, and
    launches with the arguments that the context yields. The submission's functions are called
    before, because what they write is not written by the kernel."""
    launch = GridExecutor.__call__

    def pointer(argument: Any, address: int) -> Pointer:
        return Pointer(argument.dtype, address)

    def watched(executor: Any, *args: Any, **kwargs: Any) -> Any:
        fixed = _with_fixed_grid(executor, args, kwargs)

        def without_code(name: str, value: Any) -> Any:
            return value if name in fixed.constexprs else plain(value, pointer)

        names = fixed.arg_names
        args = tuple(map(without_code, names, args)) + args[len(names) :]
        kwargs = {name: without_code(name, value) for name, value in kwargs.items()}
        with around((args, kwargs)) as (given, named):
            named = {name: with_fixed_addresses(value) for name, value in named.items()}
            return launch(fixed, *map(with_fixed_addresses, given), **named)

    GridExecutor.__call__ = watched


def _with_fixed_grid(executor: Any, args: Any, kwargs: Any) -> Any:
    """Calls the hooks of a launch, and its grid if this is a function. Returns the executor of a
    launch with this grid and without hooks."""
    names = inspect.getfullargspec(executor.fn).args
    named = {name: value for name, value in kwargs.items() if name in names}
    for hook in executor.pre_run_hooks:
        hook(*args, **named)
    grid = executor.grid
    if callable(grid):
        grid = grid(inspect.getcallargs(executor.fn, *args, **named))
    fixed = copy.copy(executor)
    fixed.grid, fixed.pre_run_hooks = tuple(grid), []
    return fixed


# Maps names of atomic operations in the native module to their names in `tl`, where the two differ
# in more than case.
_ATOMICS = {"FADD": "add", "UMIN": "min", "UMAX": "max"}


class Checks(Protocol):
    """Checks the accesses of a launch, such as harness.interpreting.bounds.Bounds."""

    def launch(self, arguments: dict[str, Any]) -> contextlib.AbstractContextManager[None]: ...

    def translate(
        self, doing: str, addresses: Any, mask: Any, size: int, writes: bool = True
    ) -> Any: ...


class _Checked:
    """Wraps Triton's native module, and checks each access to memory."""

    def __init__(self, native: Any, bounds: Checks, programs: ReversedPrograms | None) -> None:
        self._native = native
        self._bounds = bounds
        self._programs = programs

    def __getattr__(self, name: str) -> Any:
        return getattr(self._native, name)

    def load(self, pointers: Any, mask: Any, other: Any, dtype: Any) -> Any:
        size = np.dtype(dtype).itemsize
        at = self._bounds.translate("load reads", pointers, mask, size, writes=False)
        return self._native.load(at, mask, other, dtype)

    def store(self, pointers: Any, value: Any, mask: Any) -> Any:
        at = self._bounds.translate("store writes", pointers, mask, value.dtype.itemsize)
        if self._programs is not None:
            return self._programs.store(at, value, mask)
        return self._native.store(at, value, mask)

    def atomic_rmw(self, operation: Any, pointers: Any, value: Any, mask: Any, order: Any) -> Any:
        doing = f"atomic_{_ATOMICS.get(operation.name, operation.name.lower())} updates"
        at = self._bounds.translate(doing, pointers, mask, value.dtype.itemsize)
        self._publish()
        return self._native.atomic_rmw(operation, at, value, mask, order)

    def atomic_cas(self, pointers: Any, expected: Any, value: Any, order: Any) -> Any:
        at = self._bounds.translate("atomic_cas updates", pointers, None, value.dtype.itemsize)
        self._publish()
        return self._native.atomic_cas(at, expected, value, order)

    def _publish(self) -> None:
        if self._programs is not None:
            self._programs.publish()
