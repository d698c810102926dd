"""Finds the calls that the test part of a file makes to the functions of its reference part. The
file is untrusted, so this module is used only inside the jail (eager_child.py).

    module = load_reference(text, "add")
    calls, problem = trace(module, test_text, seed=0)
    calls[0].text  # "add(input, other, alpha=alpha)"; calls[0].leaves are the arguments

A call's leaves are its tensors and numbers, which become the arguments of an operator. All other
values are constants in the call's text."""

from __future__ import annotations

import functools
import keyword
import re
import sys
from collections.abc import Callable
from dataclasses import dataclass
from inspect import Parameter, signature
from pathlib import Path
from types import FunctionType, ModuleType
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "sandbox"))

import torch  # noqa: E402
from harness.imported.test_parts import run_tests  # noqa: E402
from harness.interpreting.interpret import CudaOnCpu  # noqa: E402
from harness.wire.tensors import NAMES  # noqa: E402
from torch.utils._python_dispatch import TorchDispatchMode  # noqa: E402

DEVICE = "<device>"  # stands for the device of the first tensor in the text of a call
IDENTIFIER = re.compile(r"[a-z][a-z0-9_]{0,39}")
MOST_OUTPUTS = 100
PLAIN = (type(None), str, torch.dtype, torch.layout, torch.memory_format)


class Refused(Exception):
    """A call or a file that cannot become an operator. `kind` is one of the kinds in REMEDIES of
    tritonbench_t.py."""

    def __init__(self, kind: str, message: str) -> None:
        super().__init__(message)
        self.kind = kind


@dataclass
class Leaf:
    name: str
    value: Any  # a tensor or a number


@dataclass
class Call:
    function: str
    text: str
    leaves: list[Leaf]
    returned: list[tuple[str, torch.Tensor]]  # the path in the result, and the tensor
    written: list[str]  # the leaves that the call changed
    problem: Refused | None = None
    fixed: bool = False  # the test part passes the same values whatever the seed

    @property
    def tensors(self) -> list[Leaf]:
        return [leaf for leaf in self.leaves if isinstance(leaf.value, torch.Tensor)]

    def form(self) -> tuple[Any, ...]:
        """Calls of the same form are cases of one operator."""

        def kind(value: Any) -> Any:
            if isinstance(value, torch.Tensor):
                return value.dtype, value.dim()
            return type(value)

        returned = [(path, kind(value)) for path, value in self.returned]
        leaves = tuple((leaf.name, kind(leaf.value)) for leaf in self.leaves)
        return self.function, self.text, leaves, tuple(returned), tuple(self.written)


def load_reference(text: str, name: str) -> ModuleType:
    """Executes the reference part as the module `name`, which the test part can import."""
    module = ModuleType(name)
    module.__file__ = f"{name}.py"
    sys.modules[name] = module
    exec(compile(text, f"{name}.py", "exec"), vars(module))
    return module


def functions_of(module: ModuleType) -> dict[str, FunctionType]:
    return {
        name: value
        for name, value in vars(module).items()
        if isinstance(value, FunctionType) and value.__module__ == module.__name__
    }


def trace(module: ModuleType, test: str, seed: int) -> tuple[list[Call], str]:
    """Runs the test part. Returns its calls, and why it ended early, or ""."""
    calls: list[Call] = []
    depth = 0

    def recorded(function: FunctionType) -> Callable[..., Any]:
        @functools.wraps(function)
        def run(*args: Any, **kwargs: Any) -> Any:
            nonlocal depth
            if depth:
                return function(*args, **kwargs)
            depth += 1
            try:
                call = _Recording(function, args, kwargs)
                result = call.run()
            finally:
                depth -= 1
            calls.append(call.call)
            return result

        return run

    names = dict(vars(module))
    wrapped = {name: recorded(function) for name, function in functions_of(module).items()}
    names.update(wrapped, __name__="__main__")
    visible = ModuleType(module.__name__)
    vars(visible).update(vars(module), **wrapped)
    sys.modules[module.__name__] = visible
    torch.manual_seed(seed)
    problem = ""
    try:
        with CudaOnCpu():
            exec(compile(test, "test_part.py", "exec"), names)
            if not calls and (errors := run_tests(names, lambda _: None, lambda: len(calls))):
                raise errors[0]
    except Exception as error:
        problem = f"{type(error).__name__}: {str(error).splitlines()[0] if str(error) else ''}"
    finally:
        sys.modules[module.__name__] = module
    return calls, problem


# The results of operations that are not unique: another algorithm may return vectors with other
# signs. Maps the operation to the positions of these results.
NOT_UNIQUE = {
    "aten::_linalg_svd": (0, 2),
    "aten::linalg_qr": (0, 1),
    "aten::_linalg_eigh": (1,),
}


class _Operations(TorchDispatchMode):
    """Notes the operations of torch that draw random numbers, and results that are not unique."""

    def __init__(self) -> None:
        super().__init__()
        self.random: set[str] = set()
        self._not_unique: list[torch.Tensor] = []

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        if torch.Tag.nondeterministic_seeded in func.tags:
            self.random.add(func._schema.name)
        made = func(*args, **(kwargs or {}))
        self._not_unique += [made[i] for i in NOT_UNIQUE.get(func._schema.name, ())]
        return made

    def check(self, result: Any) -> None:
        """Raises Refused if an answer cannot be compared with the result."""
        if self.random:
            names = ", ".join(sorted(self.random))
            raise Refused("random", f"the function draws random numbers ({names})")
        memory = {value.untyped_storage().data_ptr() for value in self._not_unique if value.numel()}
        for path, value in tensors_in(result, "result"):
            if value.layout is torch.strided and value.untyped_storage().data_ptr() in memory:
                text = (
                    f"{path} has vectors whose signs another right algorithm may choose otherwise"
                )
                raise Refused("not_unique", text)


class _Recording:
    """One call, before and after it ran."""

    def __init__(self, function: FunctionType, args: Any, kwargs: Any) -> None:
        self._function, self._args, self._kwargs = function, args, kwargs
        self._given: dict[str, torch.Tensor] = {}
        writer = _Writer(function.__name__)
        self.call = Call(function.__name__, "", writer.leaves, [], [])
        try:
            self.call.text = writer.call(function, args, kwargs)
        except Refused as refused:
            self.call.problem = refused
            return
        self._given = {leaf.name: leaf.value for leaf in self.call.tensors}
        for leaf in self.call.tensors:
            leaf.value = leaf.value.detach().clone(memory_format=torch.contiguous_format)

    def run(self) -> Any:
        operations = _Operations()
        try:
            with operations:
                result = self._function(*self._args, **self._kwargs)
        except Exception as error:
            text = f"{type(error).__name__}: {str(error).splitlines()[0][:160]}"
            self.call.problem = self.call.problem or Refused("raises", text)
            raise
        try:
            operations.check(result)
            if self.call.problem is None:
                note_result(self.call, self._given, result)
        except Refused as refused:
            self.call.problem = refused
        return result


def note_result(call: Call, given: dict[str, torch.Tensor], result: Any) -> None:
    """Adds to the call what it wrote and returned. `given` are the tensors that were passed, and the
    call's leaves are copies from before the call."""
    for leaf in call.tensors:
        after = given[leaf.name].detach()
        if after.shape != leaf.value.shape:
            raise Refused("resized_argument", f"it changes the size of {leaf.name}")
        if not same_values(after, leaf.value) and leaf.name not in call.written:
            call.written.append(leaf.name)
    returned = [(path, value.detach()) for path, value in tensors_in(result, "")]
    if not returned and not call.written:
        raise Refused("no_tensor", "it returns no tensor, and writes to none")
    for _, value in returned:
        check_tensor(value, "returned")
    memory = {
        (given[name].data_ptr(), tuple(given[name].shape)): name
        for name in given
        if given[name].numel()
    }
    for path, value in returned:
        source = memory.get((value.data_ptr(), tuple(value.shape)))
        if source is not None and given[source].stride() == value.stride():
            # The function returns an argument, as torch does with `out`.
            if source not in call.written:
                call.written.append(source)
            continue
        call.returned.append((path, value.clone()))
    call.written.sort()


def same_values(a: torch.Tensor, b: torch.Tensor) -> bool:
    return bool(torch.equal(a, b)) or bool(((a == b) | ((a != a) & (b != b))).all())


def check_tensor(value: torch.Tensor, what: str) -> None:
    if value.is_complex():
        raise Refused("complex_dtype", f"a {what} tensor is complex")
    if value.layout is not torch.strided or value.is_quantized:
        raise Refused("layout", f"a {what} tensor is sparse or quantized")
    if value.dtype not in NAMES:
        raise Refused("dtype", f"a {what} tensor is {value.dtype}")
    if value.numel() == 0:
        raise Refused("empty_tensor", f"a {what} tensor has no elements")


def tensors_in(result: Any, path: str) -> list[tuple[str, torch.Tensor]]:
    """Returns the tensors of a result, with the Python text that selects each of them."""
    if isinstance(result, torch.Tensor):
        return [(path, result)]
    items: list[tuple[str, Any]] = []
    if isinstance(result, list | tuple):
        items = [(f"[{i}]", value) for i, value in enumerate(result)]
    elif isinstance(result, dict):
        items = [(f"[{key!r}]", value) for key, value in result.items()]
    return [found for suffix, value in items for found in tensors_in(value, path + suffix)]


class _Writer:
    """Writes a call as text. Tensors and numbers become names."""

    def __init__(self, function: str) -> None:
        # The names of outputs are y0, y1, ...
        self._taken = {function, "torch", "result", *[f"y{i}" for i in range(MOST_OUTPUTS)]}
        self.leaves: list[Leaf] = []

    def call(self, function: FunctionType, args: Any, kwargs: Any) -> str:
        positional = [
            one.name
            for one in signature(function).parameters.values()
            if one.kind in (Parameter.POSITIONAL_ONLY, Parameter.POSITIONAL_OR_KEYWORD)
        ]
        named = [*positional, *[f"a{i}" for i in range(len(args))]]
        words = [self._write(value, name) for value, name in zip(args, named, strict=False)]
        words += [f"{name}={self._write(value, name)}" for name, value in kwargs.items()]
        if not any(isinstance(leaf.value, torch.Tensor) for leaf in self.leaves):
            raise Refused("no_tensor_argument", "no argument is a tensor")
        first = next(leaf.name for leaf in self.leaves if isinstance(leaf.value, torch.Tensor))
        return f"{function.__name__}({', '.join(words)})".replace(DEVICE, f"{first}.device")

    def _write(self, value: Any, name: str) -> str:
        if isinstance(value, torch.Tensor):
            check_tensor(value, "given")
            return self._leaf(value, name)
        if isinstance(value, bool | int | float):
            if isinstance(value, int) and not -(2**63) <= value < 2**63:
                raise Refused("object", f"{name} has more than 64 bits")
            return self._leaf(value, name)
        if isinstance(value, torch.device) or (isinstance(value, str) and value[:4] == "cuda"):
            return DEVICE
        if isinstance(value, PLAIN):
            return repr(value)
        if isinstance(value, list):
            return f"[{', '.join(self._write(one, name) for one in value)}]"
        if isinstance(value, tuple):
            return f"({''.join(f'{self._write(one, name)}, ' for one in value)})"
        if isinstance(value, dict) and all(isinstance(key, str) for key in value):
            items = [f"{key!r}: {self._write(one, key)}" for key, one in value.items()]
            return f"{{{', '.join(items)}}}"
        if isinstance(value, complex):
            raise Refused("complex_dtype", f"{name} is a complex number")
        raise Refused("object", f"{name} is a {type(value).__name__}")

    def _leaf(self, value: Any, name: str) -> str:
        base = name.lower()
        usable = IDENTIFIER.fullmatch(base) and not keyword.iskeyword(base)
        candidates = [base] if usable else []
        candidates += [f"{base if usable else 'a'}{i}" for i in range(len(self._taken) + 1)]
        chosen = next(one for one in candidates if one not in self._taken)
        self._taken.add(chosen)
        self.leaves.append(Leaf(chosen, value))
        return chosen


def mark_fixed(calls: list[Call], again: list[Call]) -> None:
    """Marks the calls whose arguments are the same in two runs of the test part with different
    seeds."""
    for one, other in zip(calls, again, strict=False):
        if one.problem or other.problem or one.text != other.text:
            continue
        one.fixed = all(
            _equal(a.value, b.value) for a, b in zip(one.leaves, other.leaves, strict=True)
        )


def _equal(a: Any, b: Any) -> bool:
    if isinstance(a, torch.Tensor) and isinstance(b, torch.Tensor):
        return a.shape == b.shape and a.dtype == b.dtype and same_values(a, b)
    return bool(a == b) or (a != a and b != b)
