"""Makes torch report one CUDA device although there is none, so that a submission's host code runs
on fake tensors.

    install("cuda:90")       # once, in a candidate, before the submission is imported

This module protects nothing, so only untrusted processes use it. It registers a device guard that
does nothing, because a CPU build of torch has no CUDA guard, and the guard of a CUDA build calls
the driver. It also replaces the functions of `torch.cuda` that wrappers of kernels commonly call.
The other functions of `torch.cuda` keep their own behaviour and errors."""

from __future__ import annotations

import contextlib
import ctypes
import os
import warnings
from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any

import torch
from torch.overrides import TorchFunctionMode

from harness.entry.errors import UnsupportedHere

GUARD_LIBRARY = "libassay_fake_cuda_guard.so"


class FakeCudaMissing(UnsupportedHere):
    """Recording needs a device guard that this installation lacks. The message says what the guard
    must be built with."""


class DeviceFacts(SimpleNamespace):
    """The properties that `torch.cuda.get_device_properties` and Triton's driver report about a
    target's device."""


_CUDA = {
    80: ("NVIDIA A100-SXM4-80GB", 108, 166912, 80 << 30, 40 << 20, 1410000, 1593000, 5120),
    90: ("NVIDIA H200", 132, 232448, 141 << 30, 50 << 20, 1980000, 3201000, 6144),
    100: ("NVIDIA B200", 148, 232448, 180 << 30, 126 << 20, 1965000, 3996000, 8192),
}
_HIP = {
    "gfx90a": ("AMD Instinct MI250", 104, 65536, 64 << 30, 8 << 20, 1700000, 1600000, 4096),
    "gfx942": ("AMD Instinct MI300X", 304, 65536, 192 << 30, 256 << 20, 2100000, 1300000, 8192),
    "gfx950": ("AMD Instinct MI355X", 256, 163840, 288 << 30, 256 << 20, 2400000, 2000000, 8192),
}


def targets() -> list[str]:
    """Returns the names of all targets for which code can be compiled."""
    return [f"cuda:{cc}" for cc in _CUDA] + [f"hip:{arch}" for arch in _HIP]


def device_facts(target: str) -> DeviceFacts:
    """Returns the facts about a target's device. Raises KeyError for an unknown target."""
    backend, _, arch = target.partition(":")
    row = _CUDA[int(arch)] if backend == "cuda" and arch.isdigit() else _HIP[arch]
    name, sms, shared, memory, l2, clock, memory_clock, bus = row
    major, minor = (
        (int(arch) // 10, int(arch) % 10)
        if backend == "cuda"
        else (9, {"gfx90a": 0, "gfx942": 4, "gfx950": 5}[arch])
    )
    return DeviceFacts(
        name=name,
        major=major,
        minor=minor,
        multi_processor_count=sms,
        total_memory=memory,
        L2_cache_size=l2,
        shared_memory_per_block=49152 if backend == "cuda" else 65536,
        shared_memory_per_block_optin=shared,
        shared_memory_per_multiprocessor=shared + 1024,
        regs_per_multiprocessor=65536,
        max_threads_per_multi_processor=2048,
        max_threads_per_block=1024,
        warp_size=32 if backend == "cuda" else 64,
        clock_rate=clock,
        memory_clock_rate=memory_clock,
        memory_bus_width=bus,
        gcnArchName="" if backend == "cuda" else arch,
        is_integrated=0,
        is_multi_gpu_board=0,
    )


def guard_path() -> str:
    """Returns the path of the guard's library, or "" if no path is configured."""
    folder = os.environ.get("ASSAY_NATIVE_DIR")
    return os.environ.get("ASSAY_FAKE_CUDA_GUARD") or (
        os.path.join(folder, GUARD_LIBRARY) if folder else ""
    )


def preload_guard() -> None:
    """Runs in the zygote: maps the library without using it, so that a jailed child need not open
    the file. If the mapping fails, `register_guard` reports the failure later."""
    if guard_path():
        with contextlib.suppress(OSError):
            ctypes.CDLL(guard_path())


def register_guard() -> None:
    """Gives the device type `cuda` a guard that calls no driver. Raises FakeCudaMissing if that
    guard is not installed."""
    if torch.version.cuda is not None and hasattr(torch._C, "_ensureCUDADeviceGuardSet"):
        with warnings.catch_warnings():
            # The call below looks for a driver, and warns if there is none. The warning would
            # mislead the submission's author.
            warnings.simplefilter("ignore")
            torch._C._ensureCUDADeviceGuardSet()
        return
    if not guard_path():
        raise FakeCudaMissing(
            f"this is a CPU build of torch: recording needs {GUARD_LIBRARY}, built with the sandbox; ASSAY_NATIVE_DIR names its folder"
        )
    try:
        library = ctypes.CDLL(guard_path())
    except OSError as error:
        raise FakeCudaMissing(
            f"{guard_path()} cannot be loaded; it must be built for this torch, {torch.__version__}: {error}"
        ) from error
    library.assay_register_fake_cuda_guard.restype = ctypes.c_int
    library.assay_register_fake_cuda_guard()


@contextlib.contextmanager
def _nothing(*_: Any, **__: Any) -> Iterator[None]:
    yield


class FakeGenerator:
    """Replaces torch.cuda's default random number generator. The state of a FakeGenerator is a seed
    and the number of values drawn so far."""

    def __init__(self) -> None:
        self._state = torch.zeros(2, dtype=torch.int64)

    def get_state(self) -> torch.Tensor:
        return self._state.clone().view(torch.uint8)

    def set_state(self, state: torch.Tensor) -> None:
        self._state = state.clone().view(torch.int64)

    def manual_seed(self, seed: int) -> FakeGenerator:
        self._state = torch.tensor([seed, 0], dtype=torch.int64)
        return self

    def initial_seed(self) -> int:
        return int(self._state[0])


class _NoGuard:
    """Replaces the context manager with which torch.cuda chooses a device. This class does nothing,
    because there is only one device."""

    def __init__(self, *_: Any) -> None:
        pass

    def __enter__(self) -> None:
        return None

    def __exit__(self, *_: Any) -> None:
        return None


def _stubs(target: str) -> dict[str, Any]:
    """Returns replacements for functions of torch.cuda, by name."""
    facts = device_facts(target)
    stream = SimpleNamespace(
        cuda_stream=0,
        device=torch.device("cuda", 0),
        device_index=0,
        synchronize=lambda: None,
        wait_stream=lambda *_: None,
        wait_event=lambda *_: None,
        query=lambda: True,
    )
    return {
        "_exchange_device": lambda *_: 0,
        "_maybe_exchange_device": lambda *_: 0,
        "_lazy_init": lambda: None,
        "current_device": lambda: 0,
        "device_count": lambda: 1,
        "set_device": lambda *_: None,
        "synchronize": lambda *_, **__: None,
        "is_available": lambda: True,
        "is_initialized": lambda: True,
        "is_bf16_supported": lambda *_, **__: True,
        "get_device_capability": lambda *_: (facts.major, facts.minor),
        "get_device_properties": lambda *_: facts,
        "get_device_name": lambda *_: facts.name,
        "current_stream": lambda *_: stream,
        "default_stream": lambda *_: stream,
        "stream": _nothing,
        "manual_seed": lambda *_: None,
        "manual_seed_all": lambda *_: None,
        "empty_cache": lambda: None,
        "default_generators": (FakeGenerator(),),
        "_DeviceGuard": _NoGuard,
        "memory_allocated": lambda *_: 0,
        "max_memory_allocated": lambda *_: 0,
        "reset_peak_memory_stats": lambda *_: None,
        "mem_get_info": lambda *_: (facts.total_memory, facts.total_memory),
    }


def _raw_stream(*_: Any) -> int:
    return 0


@contextlib.contextmanager
def stubbed(target: str) -> Iterator[None]:
    """While the context is active, the functions of torch.cuda answer as for a device. A process
    that has no GPU, and that only needs the shapes of tensors, uses this."""
    answers = _stubs(target)
    missing = object()
    before = {name: getattr(torch.cuda, name, missing) for name in answers}
    # A CPU build of torch lacks this function.
    lacks_stream = not hasattr(torch._C, "_cuda_getCurrentRawStream")
    if lacks_stream:
        torch._C._cuda_getCurrentRawStream = _raw_stream
    for name, answer in answers.items():
        setattr(torch.cuda, name, answer)
    try:
        yield
    finally:
        for name, value in before.items():
            if value is missing:
                delattr(torch.cuda, name)
            else:
                setattr(torch.cuda, name, value)
        if lacks_stream:
            del torch._C._cuda_getCurrentRawStream


def stub_functions(target: str) -> None:
    """Replaces the functions of torch.cuda that would look for a device."""
    for name, answer in _stubs(target).items():
        setattr(torch.cuda, name, answer)
    # A CPU build of torch lacks these functions. Code that torch.compile generated calls them.
    torch._C._cuda_getCurrentRawStream = _raw_stream
    guards = torch._C._dynamo.guards
    guards._empty_strided_cuda = lambda size, stride, dtype: torch.empty_strided(
        size, stride, dtype=dtype, device="cuda"
    )


class NumberedDevices(TorchFunctionMode):
    """Turns a device that is given as a number into the CUDA device with that number. A CPU build
    of torch cannot convert the number, because it has no accelerator."""

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        kwargs = kwargs or {}
        if _is_number(kwargs.get("device")):
            kwargs = {**kwargs, "device": torch.device("cuda", kwargs["device"])}
        if func is torch.Tensor.to and len(args) > 1 and _is_number(args[1]):
            args = (args[0], torch.device("cuda", args[1]), *args[2:])
        if func is torch.Tensor.cuda:
            device = args[1] if len(args) > 1 else kwargs.get("device")
            return args[0].to(
                device
                if isinstance(device, torch.device | str)
                else torch.device("cuda", device or 0)
            )
        return func(*args, **kwargs)


def _is_number(device: Any) -> bool:
    return isinstance(device, int) and not isinstance(device, bool)


def install(target: str) -> None:
    """Installs the guard and the replaced functions. Call this function once in a process."""
    import torch._subclasses.fake_tensor as fake_tensor

    register_guard()
    stub_functions(target)
    fake_tensor.init_gpu_context = lambda *_: None
    # With this flag, torch.tensor([...], device="cuda") creates the tensor on the CPU and then
    # moves it to the device. The recorder sees this move. Without the flag, torch would look for a
    # device.
    torch._C._set_only_lift_cpu_tensors(True)
