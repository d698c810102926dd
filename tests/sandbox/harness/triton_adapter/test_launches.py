"""Tests that no function of the submission runs inside the window of a launch, and that each runs too if
launches do nothing. A function of the test acts as the launcher of a compiled kernel."""

from __future__ import annotations

import contextlib
import inspect
from collections.abc import Callable, Iterator
from typing import Any

import pytest
import torch
import triton

# The binder of a kernel imports Gluon at its first call. This import fails after another test of the
# process has converted Triton's library to interpreted functions, so it happens here.
import triton.experimental.gluon
from harness.triton_adapter.interpreter import launch_nothing_interpreted, watch_interpreted
from harness.triton_adapter.launches import Address, launch_nothing_compiled, watch_compiled
from torch.overrides import TorchFunctionMode
from triton import knobs
from triton.backends.compiler import GPUTarget
from triton.compiler import CompiledKernel
from triton.runtime import _allocation, driver, jit
from triton.runtime.interpreter import GridExecutor
from triton.runtime.jit import JITFunction


class Driver:
    def get_current_device(self) -> int:
        return 0

    def get_current_stream(self, _: int) -> int:
        return 0

    def get_current_target(self) -> GPUTarget:
        return GPUTarget("cuda", 90, 32)


class Launcher:
    """Acts as the launcher of a kernel. It calls what Triton's own launcher calls."""

    num_ctas, global_scratch_size, global_scratch_align = 1, 16, 8

    def __init__(self, events: list[str]) -> None:
        self.events = events
        self.scratch: list[Any] = []

    def __call__(self, x: int, y: int, z: int, stream: int, *rest: Any) -> None:
        self.scratch.append(_allocation._allocator.get()(x * y * z * 16, 8, stream))
        _function, _packed, metadata, enter, leave, *arguments = rest
        if enter is not None:
            enter(metadata)
        for one in arguments:
            if hasattr(one, "data_ptr"):
                one.data_ptr()
        self.events.append("kernel")
        if leave is not None:
            leave(metadata)


class Adds:
    dtype = torch.float32

    def __init__(self, events: list[str]) -> None:
        self._events = events

    def data_ptr(self) -> int:
        self._events.append("data_ptr")
        return 0


@triton.jit
def _kernel(x, other, n):  # type: ignore[no-untyped-def]
    pass


@pytest.fixture
def events(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[str]]:
    """Returns a list to which each function appends its name, and in which `launch` shows what
    happens if the kernel is launched."""
    seen: list[str] = []
    monkeypatch.setattr(CompiledKernel, "run", CompiledKernel.run)
    monkeypatch.setattr(jit, "native_specialize_impl", jit.native_specialize_impl)
    monkeypatch.setattr(GridExecutor, "__call__", GridExecutor.__call__)
    monkeypatch.setattr(_kernel, "pre_run_hooks", [lambda *_, **__: seen.append("hook")])
    launcher = Launcher(seen)
    compiled: Any = object.__new__(CompiledKernel)
    compiled.__dict__.update(
        _run=launcher, module=1, function=1, name="kernel", packed_metadata=(), src=None
    )
    monkeypatch.setattr(JITFunction, "_do_compile", lambda *_: compiled)
    hooks = {
        "enter": knobs.runtime.launch_enter_hook,
        "leave": knobs.runtime.launch_exit_hook,
    }
    added = {name: (lambda _, name=name: seen.append(name)) for name in hooks}
    for name, chain in hooks.items():
        chain.add(added[name])
    before = _allocation._allocator.get()

    def allocate(*_: Any) -> torch.Tensor:
        seen.append("allocator")
        return torch.zeros(16, dtype=torch.uint8)

    _allocation._allocator.set(allocate)
    monkeypatch.setattr(driver, "_active", Driver())
    _kernel.device_caches.clear()
    try:
        yield seen
    finally:
        _allocation._allocator.set(before)
        for name, chain in hooks.items():
            chain.remove(added[name])


def window(events: list[str]) -> Callable[[Any], contextlib.AbstractContextManager[None]]:
    @contextlib.contextmanager
    def around(given: Any) -> Iterator[Any]:
        events.append("begin")
        yield given
        events.append("end")

    return around


def launch(events: list[str]) -> None:
    def grid(given: dict[str, Any]) -> tuple[int, ...]:
        events.append("grid")
        return (given["n"],)

    _kernel[grid](torch.zeros(4), Adds(events), 3)


@pytest.mark.parametrize("address", ["of an object", "of a changed tensor"])
def test_only_the_kernel_runs_in_the_window_of_a_launch(events: list[str], address: str) -> None:
    watch_compiled(window(events))
    if address == "of an object":
        launch(events)
    else:
        changed: Any = torch.zeros(4)
        changed.data_ptr = Adds(events).data_ptr
        _kernel[(events.append("grid"), (1,))[1]](torch.zeros(4), changed, 3)
    at = events.index("begin")
    assert events[at : at + 3] == ["begin", "kernel", "end"]
    assert {"hook", "grid", "enter", "allocator", "data_ptr"} == set(events[:at])
    assert events[at + 3 :] == ["leave"]


def test_no_object_of_the_submission_reaches_the_window_of_a_launch(events: list[str]) -> None:
    given: list[Any] = []

    @contextlib.contextmanager
    def around(arguments: Any) -> Iterator[Any]:
        given.extend(arguments)
        yield arguments

    watch_compiled(around)
    tensor = torch.zeros(4)
    _kernel[(1,)](tensor, Adds(events), 3)
    assert given[0] is tensor
    assert [type(one) for one in given[1:]] == [Address, int]


def test_memory_of_an_allocator_is_allocated_before_and_its_allocator_stays(
    events: list[str],
) -> None:
    own = _allocation._allocator.get()
    watch_compiled(window(events))
    launch(events)
    assert events.count("allocator") == 1
    assert _allocation._allocator.get() is own


def test_without_launches_all_is_called_except_the_kernel(events: list[str]) -> None:
    launch_nothing_compiled()
    launch(events)
    assert {"hook", "grid", "enter", "allocator", "data_ptr", "leave"} == set(events)


def test_a_compiled_kernel_that_is_launched_itself_is_watched(events: list[str]) -> None:
    compiled = _kernel[(1,)](torch.zeros(4), Adds(events), 3)
    watch_compiled(window(events))
    events.clear()
    compiled[(1, 1, 1)](torch.zeros(4), torch.zeros(4), 3)
    assert events == ["enter", "allocator", "begin", "kernel", "end", "leave"]


@pytest.mark.parametrize("idle", [False, True])
def test_interpreted_kernels_call_the_grid_and_hooks_before_the_window(
    events: list[str], idle: bool
) -> None:
    def kernel(x: Any, n: Any) -> None:
        events.append("kernel")

    def grid(given: dict[str, Any]) -> tuple[int, ...]:
        events.append(f"grid of {given['n'] + 1}")
        return (1,)

    def launch_all(executor: Any, *args: Any, **kwargs: Any) -> None:
        for hook in executor.pre_run_hooks:
            hook(*args, **kwargs)
        grid = executor.grid
        assert not callable(grid) or grid(inspect.getcallargs(kernel, *args, **kwargs))
        kernel(*args, **kwargs)

    GridExecutor.__call__ = launch_all  # type: ignore[method-assign]
    launch_nothing_interpreted() if idle else watch_interpreted(window(events))
    hook: Callable[..., Any] = lambda *_, **__: events.append("hook")  # noqa: E731
    executor = GridExecutor(kernel, ["x", "n"], grid, [hook])
    for _ in range(2):
        events.clear()
        executor(torch.zeros(4), n=3)
        assert events == ["hook", "grid of 4"] + ([] if idle else ["begin", "kernel", "end"])


@pytest.mark.parametrize("changed", [False, True])
def test_addresses_that_only_triton_reads_are_not_seen(events: list[str], changed: bool) -> None:
    """Otherwise, every later kernel could reach each tensor that a kernel once got."""
    read: list[Any] = []

    class Reads(TorchFunctionMode):
        def __torch_function__(self, func: Any, _: Any, args: Any = (), kwargs: Any = None) -> Any:
            if func is torch.Tensor.data_ptr:
                read.append(args[0])
            return func(*args, **(kwargs or {}))

    watch_compiled(window(events))
    own, other = torch.zeros(4), torch.ones(4)
    given: Any = torch.zeros(4)
    if changed:
        given.data_ptr = lambda: own.data_ptr()
    with Reads():
        _kernel[(1,)](given, other, 3)
    assert "kernel" in events
    assert {id(one) for one in read} == ({id(own)} if changed else set())
