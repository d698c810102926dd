"""Runs the golden kernel part of an imported operator on the CPU, in Triton's interpreter.

    interpreter = Interpreter()  # once in a process
    with interpreter.importing():
        execute_the_module()  # its kernels are interpreted ones
    with interpreter.running(MOST_WORK):
        outputs = golden_function(x)  # x is on the CPU, although the code asks for `cuda`

A kernel may access only the memory of the tensors that its launch has as arguments, with the
margins around them (surroundings.py). Any other access raises OutOfBounds before it happens, so the
golden code cannot end the judge's process by a wrong address. The importer decides which cases run
here (golden_interpreter.py): those that are small, deterministic, and of dtypes that the interpreter
computes as a GPU does."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Any

import numpy as np
import torch

from harness.entry.errors import OutOfBounds, UnsupportedHere
from harness.entry.refusals import Refusals
from harness.interpreting.interpret import CudaOnCpu

# The work of an access to memory, in elements. The interpreter needs about as long for the call as
# for this number of elements, and about ten other operations belong to each access.
ACCESS_WORK = 4096
# The most work of one run of the golden code. The interpreter needs at most a second for it.
MOST_WORK = 2 << 20


class TooLarge(UnsupportedHere):
    """The code needs more work than the caller allows."""


class Interpreter:
    """Triton's interpreter in a process of the judge (see the module's docstring). It changes Triton
    for the whole process, which compiles no kernel afterwards."""

    def __init__(self) -> None:
        from harness import triton_adapter  # a judge of other operators does not need Triton

        self._refusals = Refusals()
        self._memory = _ArgumentMemory(self._refusals)
        triton_adapter.convert_library()
        triton_adapter.check_accesses(self._memory, self._refusals)
        self._adapter = triton_adapter

    @contextlib.contextmanager
    def importing(self) -> Iterator[None]:
        """While the context is active, `@triton.jit` makes interpreted kernels."""
        with self._adapter.interpreted_kernels():
            yield

    @contextlib.contextmanager
    def running(self, most_work: int) -> Iterator[None]:
        """While the context is active, kernels run on the CPU. If all kernels together need more
        than `most_work`, the context raises TooLarge."""
        self._refusals.forget()
        self._memory.allow(most_work)
        with self._refusals.deciding(), self._adapter.interpreted_kernels(), CudaOnCpu():
            yield


class _ArgumentMemory:
    """Checks the addresses of an interpreted kernel, like interpreting/bounds.py, but the addresses
    are real ones."""

    def __init__(self, refusals: Refusals) -> None:
        self._refusals = refusals
        self._ranges: list[tuple[int, int]] = []
        self._left = 0

    def allow(self, most_work: int) -> None:
        self._left = most_work

    @contextlib.contextmanager
    def launch(self, arguments: dict[str, Any]) -> Iterator[None]:
        outer = self._ranges
        self._ranges = sorted({_range(x) for x in _tensors(list(arguments.values()))})
        try:
            yield
        finally:
            self._ranges = outer

    def translate(
        self, doing: str, addresses: Any, mask: Any, size: int, writes: bool = True
    ) -> Any:
        """Returns the addresses. Raises OutOfBounds if one of them that `mask` selects is outside of
        the launch's arguments."""
        self._left -= ACCESS_WORK + int(addresses.size)
        if self._left < 0:
            raise self._refusals.refuse(
                TooLarge("the golden kernels need too much work for the interpreter")
            )
        flat = addresses.reshape(-1).astype(np.uint64, copy=False)
        if mask is not None:
            chosen = np.broadcast_to(np.asarray(mask), addresses.shape).reshape(-1)
            flat = flat[chosen.astype(bool, copy=False)]
        inside = np.zeros(flat.shape, bool)
        for start, end in self._ranges:
            inside |= (flat >= start) & (flat <= end - size)
        if not inside.all():
            raise self._refusals.refuse(
                OutOfBounds(f"the golden kernel's {doing} memory of no argument")
            )
        return addresses


def _range(tensor: torch.Tensor) -> tuple[int, int]:
    with torch._C.DisableTorchFunction():
        storage = torch.Tensor.untyped_storage(tensor)
        return storage.data_ptr(), storage.data_ptr() + storage.nbytes()


def _tensors(value: Any) -> Iterator[torch.Tensor]:
    if isinstance(value, torch.Tensor):
        yield value
    elif isinstance(value, tuple | list):
        for part in value:
            yield from _tensors(part)
    elif (base := getattr(value, "base", None)) is not None:
        yield from _tensors(base)
