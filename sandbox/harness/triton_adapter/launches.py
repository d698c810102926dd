"""Tells of the launches of compiled kernels, or leaves them out.

watch_compiled(around)     # each launch happens inside `with around(arguments) as given`
launch_nothing_compiled()  # from now on, launches of this process do nothing

Before and after a launch, Triton calls functions of the submission: a grid, hooks, an allocator, and
data_ptr() of arguments. They are called in both cases. None is called inside `around`, because what
they write is not written by the kernel."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from operator import index
from typing import Any

import torch
from triton.compiler import CompiledKernel
from triton.runtime import _allocation, jit
from triton.runtime.jit import TensorWrapper

from harness.triton_adapter.plain_arguments import (
    is_torchs,
    plain,
    with_fixed_addresses,
)


class Address(int):
    """What data_ptr() of an argument has returned that is no plain tensor."""


def watch_compiled(around: Callable[[Any], AbstractContextManager[Any]]) -> None:
    """Enters the context `around` of its arguments for each launch, also by an autotuner, and launches
    with the arguments that the context yields. A kernel is launched as `kernel[grid](...)`, or, after
    it was compiled, as `compiled[grid](...)`. Both call the launcher that `compiled.run` returns."""

    def launch(launcher: Any, grid: Any, stream: Any, rest: Any, arguments: Any) -> None:
        without_code = tuple(map(_without_code, arguments))
        with _memory_of_before(launcher, grid, stream), around(without_code) as given:
            with torch._C.DisableTorchFunction():
                launcher(*grid, stream, *rest, None, None, *map(with_fixed_addresses, given))

    _replace_launcher(launch)
    _hide_specialisation()


def _hide_specialisation() -> None:
    """Triton reads the address of each tensor that a kernel gets, to see whether the address is
    aligned. torch's modes do not see this, because no host code reads it."""
    original = jit.native_specialize_impl

    def specialize(backend: Any, argument: Any, *rest: Any) -> Any:
        if not _is_without_code(argument):
            return original(backend, argument, *rest)
        with torch._C.DisableTorchFunction():
            return original(backend, argument, *rest)

    jit.native_specialize_impl = specialize


def launch_nothing_compiled() -> None:
    def launch(launcher: Any, grid: Any, stream: Any, rest: Any, arguments: Any) -> None:
        tuple(map(_without_code, arguments))
        with _memory_of_before(launcher, grid, stream):
            pass

    _replace_launcher(launch)


def _replace_launcher(launch: Callable[[Any, Any, Any, Any, Any], None]) -> None:
    """Makes launch(launcher, grid, stream, (function, metadata of the kernel, metadata of the launch),
    arguments) take the place of the launcher of each kernel."""
    original = CompiledKernel.run.fget

    def run(kernel: Any) -> Any:
        launcher = original(kernel)

        def called(
            grid_x: Any,
            grid_y: Any,
            grid_z: Any,
            stream: Any,
            function: Any,
            packed: Any,
            metadata: Any,
            enter: Any,
            leave: Any,
            *arguments: Any,
        ) -> None:
            grid = index(grid_x), index(grid_y), index(grid_z)
            if enter is not None:
                enter(metadata)
            launch(launcher, grid, stream, (function, packed, metadata), arguments)
            if leave is not None:
                leave(metadata)

        return called

    CompiledKernel.run = property(run)  # type: ignore[method-assign]


def _is_without_code(argument: Any) -> bool:
    """Returns True if Triton calls no data_ptr() of this argument but torch's."""
    if type(argument) is tuple:
        return all(map(_is_without_code, argument))
    if type(argument) is TensorWrapper:
        return _is_without_code(argument.base)
    return is_torchs(argument) or not hasattr(argument, "data_ptr")


def _without_code(argument: Any) -> Any:
    """Returns the argument without code of the submission: the address of an object with a data_ptr()
    that is not torch's."""
    return plain(argument, lambda _, address: Address(address))


@contextlib.contextmanager
def _memory_of_before(launcher: Any, grid: tuple[int, int, int], stream: Any) -> Iterator[None]:
    """Allocates the memory that the launcher would allocate. While the context is active, allocators
    return this memory."""
    programs = grid[0] * grid[1] * grid[2] * getattr(launcher, "num_ctas", 1)
    with contextlib.ExitStack() as stack:
        for name, allocator in (
            ("global", _allocation._allocator),
            ("profile", _allocation._profile_allocator),
        ):
            size = getattr(launcher, f"{name}_scratch_size", 0)
            if size > 0:
                align, before = getattr(launcher, f"{name}_scratch_align"), allocator.get()
                kept = before(programs * size, align, stream)
                memory = _without_code(kept)
                # `kept` owns the memory, so it must live as long as the launch.
                allocator.set(lambda *_, memory=memory, kept=kept: memory)
                stack.callback(allocator.set, before)
        yield
