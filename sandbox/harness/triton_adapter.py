"""Everything that depends on the version of Triton (3.6 to 3.9), in one file: the recording driver, the autotuner, the interpreter.

    install_driver("cuda:90", sink)      # sink.launch(Launch(...)) is called for each kernel launch; None: launches are refused
    patch_autotuner(sink, compile_budget_s=20)
    switch_to_interpreter()

Kernel parameters are typed, ordered and skipped as Triton's own launcher does it: `constexpr` (which includes None and integers
specialised to 1) are not passed, tuples are flattened, then follow the pointers to global and to profile scratch.
"""

from __future__ import annotations

import contextlib
import operator
import os
import re
import struct
import sys
import time
from dataclasses import dataclass, field
from typing import Any, Protocol

import torch
import triton
import triton.language as tl
from triton import knobs
from triton.backends.compiler import GPUTarget
from triton.backends.driver import DriverBase
from triton.backends.nvidia.driver import TMA_DTYPE_DEVICE_TO_HOST
from triton.compiler import compiler as triton_compiler
from triton.runtime import interpreter
from triton.runtime.autotuner import Autotuner
from triton.runtime.driver import driver
from triton.runtime.interpreter import InterpretedFunction
from triton.runtime.jit import JITFunction

from harness.errors import NotRecordable
from harness.fake_cuda import device_facts
from harness.plan import COOPERATIVE, DEPENDENT_LAUNCH, GlobalScratch, Null, Scalar

MAX_THREADS_PER_BLOCK = 1024
MAX_LABEL_CHARS = 400
MAX_GRID = (2**31 - 1, 65535, 65535)
_INTEGERS = {"i1": 1, "i8": 1, "i16": 2, "i32": 4, "i64": 8, "u1": 1, "u8": 1, "u16": 2, "u32": 4, "u64": 8}
_TENSOR_MAP = "nvTmaDesc"  # Triton's name for the type of an encoded descriptor
_TF32 = 11  # Triton's number of the element type
_FLOATS = {"fp16": "<e", "fp32": "<f", "f32": "<f", "fp64": "<d"}


@dataclass(frozen=True)
class Address:
    """A pointer argument as the host code passed it; the recorder resolves it to a buffer."""

    value: int
    position: int  # of the argument, for messages


@dataclass(frozen=True)
class Descriptor:
    """A host TMA descriptor that the launcher has to encode. Dimensions innermost first."""

    base: Address
    type: int
    swizzle: int
    nan_outside: bool
    shape: tuple[int, ...]
    strides: tuple[int, ...]  # bytes; of every dimension but the innermost
    box: tuple[int, ...]


RawParam = Scalar | Address | Null | GlobalScratch | Descriptor


@dataclass(frozen=True)
class KernelImage:
    """A compiled kernel: what a plan and a report need to know of it."""

    name: str
    image: bytes
    shared_bytes: int
    num_warps: int
    num_stages: int
    files: dict[str, str] = field(hash=False, compare=False)  # Triton's cache: file name to path

    def text(self, extension: str) -> str:
        """An intermediate form ("ptx", "amdgcn"), or "" if Triton kept none."""
        for name, path in self.files.items():
            if name.endswith("." + extension):
                with open(path, encoding="utf-8", errors="replace") as stream:
                    return stream.read()
        return ""


@dataclass
class Launch:
    kernel: KernelImage
    grid: tuple[int, int, int]
    block: tuple[int, int, int]
    cluster: tuple[int, int, int]
    flags: int
    params: list[RawParam]


class Sink(Protocol):
    """Who receives what Triton is asked to do."""

    def launch(self, launch: Launch) -> None: ...
    def note(self, text: str) -> None: ...
    def choosing(self, owner: int, question: object) -> contextlib.AbstractContextManager[Choosing]: ...
    def settle(self, owner: int) -> None: ...


class Choosing(Protocol):
    """What is launched inside `alternative` is one way of doing a piece of work; one that raises is forgotten."""

    @property
    def count(self) -> int:
        """Alternatives so far."""

    @property
    def has_room(self) -> bool: ...
    def alternative(self, label: str) -> contextlib.AbstractContextManager[None]: ...


def versions() -> dict[str, str]:
    return {"torch": torch.__version__, "triton": triton.__version__, "python": ".".join(map(str, sys.version_info[:3]))}


def target_from(name: str) -> GPUTarget:
    backend, _, arch = name.partition(":")
    return GPUTarget(backend, int(arch) if backend == "cuda" else arch, device_facts(name).warp_size)


def warm() -> None:
    """Fills the caches that every first compile would fill again: pure functions of files that never change while we run."""
    from triton.backends.nvidia.compiler import get_ptxas_version
    from triton.runtime.cache import triton_key

    triton_key()
    for arch in (90, 100):
        with contextlib.suppress(OSError, RuntimeError):  # a machine without this ptxas finds out when it compiles for it
            get_ptxas_version(arch)


class _Utils:
    """Stands in for the driver's C helpers."""

    def __init__(self, target: str) -> None:
        self._facts = device_facts(target)
        self.files: dict[str, str] = {}  # of the kernel that is about to be loaded
        self.loaded: list[tuple[str, bytes, int, dict[str, str]]] = []

    def load_binary(self, name: str, image: bytes, shared: int, _device: int) -> tuple[int, int, int, int, int]:
        self.loaded.append((name, bytes(image), shared, self.files))
        handle = len(self.loaded)
        return handle, handle, 0, 0, MAX_THREADS_PER_BLOCK

    def get_device_properties(self, _device: int) -> dict[str, int]:
        facts = self._facts
        return {
            "max_shared_mem": facts.shared_memory_per_block_optin,
            "max_num_regs": facts.regs_per_multiprocessor,
            "multiprocessor_count": facts.multi_processor_count,
            "warpSize": facts.warp_size,
            "sm_clock_rate": facts.clock_rate,
            "mem_clock_rate": facts.memory_clock_rate,
            "mem_bus_width": facts.memory_bus_width,
        }


def _flatten(kind: Any, argument: Any, found: list[tuple[str, Any]]) -> None:
    if isinstance(kind, tuple):
        for inner_kind, inner in zip(kind, argument, strict=True):
            _flatten(inner_kind, inner, found)
    else:
        found.append((kind, argument))


def _expand_descriptor(name: str, kind: str, argument: Any, meta: Any) -> list[tuple[str, Any]]:
    """What a host tensor descriptor becomes, as Triton's own launcher does it: a TMA descriptor, or pointer, shape, strides and padding
    where the kernel takes it apart itself; then shape and strides once more."""
    shape, strides = [_extent(value) for value in argument.shape], [_extent(value) for value in argument.strides]
    nan = getattr(argument, "padding", "zero") == "nan"
    rounds = getattr(argument, "round_f32_to_tf32", None)  # None: Triton up to 3.6, which has no such thing
    if meta is not None:
        if meta.get("is_im2col"):
            raise NotRecordable(f"argument '{name}' is an im2col descriptor; a launch plan holds tiled ones")
        described = list(shape)
        if meta["fp4_padded"]:
            described[-1] *= 2
            shape = described if rounds is None else shape
        size, kind_number = meta["elem_size"], _TF32 if rounds else meta["elem_type"]
        parts: list[tuple[str, Any]] = [
            (
                _TENSOR_MAP,
                lambda position: Descriptor(
                    Address(argument.base.data_ptr(), position),
                    TMA_DTYPE_DEVICE_TO_HOST[kind_number],
                    meta["swizzle"],
                    nan,
                    tuple(reversed(described)),
                    tuple(size * stride for stride in reversed(strides[:-1])),
                    tuple(reversed(meta["block_size"])),
                ),
            )
        ]
    else:
        element = re.match(r"tensordesc<([^[>]*)\[", kind)
        if element is None:
            raise NotRecordable(f"argument '{name}' has the unknown descriptor type {kind}")
        parts = [("*" + element.group(1), argument.base)]
        parts += [("i64", value) for value in (*shape, *strides)]
        parts.append(("i1", nan))
        if rounds is not None:
            parts.append(("i1", rounds))
    return parts + [("i32", value) for value in shape] + [("i64", value) for value in strides]


def _typed(kind: str, argument: Any, position: int) -> RawParam:
    if kind == _TENSOR_MAP:
        return argument(position)  # type: ignore[no-any-return]
    if kind.startswith("*"):
        if argument is None:
            return Null()
        value = argument if isinstance(argument, int) else argument.data_ptr()
        return Address(value, position) if value else Null()
    if kind in _INTEGERS:
        size = _INTEGERS[kind]
        return Scalar(size, operator.index(argument) & ((1 << (8 * size)) - 1))
    if kind == "bf16":  # truncated, as Triton's own launcher does
        return Scalar(2, struct.unpack("<I", struct.pack("<f", float(argument)))[0] >> 16)
    if kind in _FLOATS:
        packed = struct.pack(_FLOATS[kind], float(argument))
        return Scalar(len(packed), int.from_bytes(packed, "little"))
    raise NotRecordable(f"a kernel argument of type {kind} cannot be recorded")


def _parameters(src: Any, metadata: Any, arguments: tuple[Any, ...]) -> list[RawParam]:
    metas = list(getattr(metadata, "tensordesc_meta", None) or [])
    flat: list[tuple[str, Any]] = []
    for (name, kind), argument in zip(src.signature.items(), arguments, strict=True):
        if isinstance(kind, str) and kind.startswith("tensordesc"):
            flat += _expand_descriptor(name, kind, argument, metas.pop(0) if metas else None)
        else:
            _flatten(kind, argument, flat)
    params = [_typed(kind, argument, position) for position, (kind, argument) in enumerate(flat) if kind != "constexpr"]
    for scratch in ("global_scratch", "profile_scratch"):
        size = getattr(metadata, f"{scratch}_size", 0)
        params.append(GlobalScratch(size, getattr(metadata, f"{scratch}_align", 1)) if size else Null())
    return params


def _extent(value: Any) -> int:
    return operator.index(getattr(value, "value", value))


class _Driver(DriverBase):
    """The recording driver: compiles for its target and hands each launch to the sink."""

    def __init__(self, target: str, sink: Sink | None) -> None:
        super().__init__()
        self._name = target
        self._target = target_from(target)
        self.utils = _Utils(target)
        self._sink = sink

    def kernel_loading(self, _module: Any, _function: Any, _name: str, files: dict[str, str], _hash: str) -> None:
        self.utils.files = dict(files)

    def launcher_cls(self, src: Any, metadata: Any) -> Any:
        kernel: KernelImage | None = None
        num_ctas = int(getattr(metadata, "num_ctas", 1))
        flags = (COOPERATIVE if metadata.launch_cooperative_grid else 0) | (
            DEPENDENT_LAUNCH if getattr(metadata, "launch_pdl", False) else 0
        )
        threads = metadata.num_warps * self._target.warp_size

        def launch(
            grid_x: Any,
            grid_y: Any,
            grid_z: Any,
            _stream: Any,
            function: int,
            _packed: Any,
            _meta: Any,
            _enter: Any,
            _exit: Any,
            *arguments: Any,
        ) -> None:
            nonlocal kernel
            if kernel is None:
                name, image, shared, files = self.utils.loaded[function - 1]
                kernel = KernelImage(name, image, shared, metadata.num_warps, getattr(metadata, "num_stages", 0), files)
            if self._sink is None:
                raise RuntimeError("no kernel can be launched here")
            grid = (_extent(grid_x) * num_ctas, _extent(grid_y), _extent(grid_z))
            params = _parameters(src, metadata, arguments)
            if any(extent < 0 or extent > limit for extent, limit in zip(grid, MAX_GRID, strict=True)):
                raise RuntimeError(f"Triton Error [CUDA]: invalid argument (grid {grid}; the limits are {MAX_GRID})")
            if 0 in grid:
                return  # Triton's own launcher does nothing either
            self._sink.launch(Launch(kernel, grid, (threads, 1, 1), (num_ctas, 1, 1), flags, params))

        return launch

    @staticmethod
    def is_active() -> bool:
        return True

    def map_python_to_cpp_type(self, ty: str) -> str:
        return ty

    def get_current_target(self) -> GPUTarget:
        return self._target

    def get_current_device(self) -> int:
        return 0

    def set_current_device(self, _device: int) -> None:
        return None

    def get_current_stream(self, _device: int = 0) -> int:
        return 0

    def get_device_capability(self, *_: Any) -> tuple[int, int]:
        facts = device_facts(self._name)
        return facts.major, facts.minor

    def get_active_torch_device(self) -> torch.device:
        return torch.device("cuda", 0)

    def get_device_interface(self) -> Any:
        return torch.cuda

    def get_benchmarker(self) -> Any:
        raise NotRecordable("a benchmark was asked for; the recorder has no device to time on")

    def get_empty_cache_for_benchmark(self) -> torch.Tensor:
        return torch.empty(1)

    def clear_cache(self, _cache: torch.Tensor) -> None:
        return None


def install_driver(target: str, sink: Sink | None, cache_dir: str) -> None:
    """Makes the recording driver Triton's active one. Compiled kernels are cached in `cache_dir`."""
    recording = _Driver(target, sink)
    driver.set_active(recording)
    triton_compiler.max_shared_mem.cache_clear()
    knobs.cache.dir = cache_dir
    knobs.runtime.kernel_load_start_hook.add(recording.kernel_loading)


_DOES_NOT_FIT = (
    triton.runtime.errors.OutOfResources,
    triton.runtime.errors.PTXASError,
    triton.compiler.errors.CompileTimeAssertionFailure,
)


def patch_autotuner(sink: Sink | None, compile_budget_s: float) -> None:
    """What an autotuner does where nothing can be timed: it hands all of its configurations to the sink as alternatives of one piece of
    work. Those that do not compile are left out, and so are those that are left when compiling has taken the budget, which counts for the
    whole process and always admits one. Without a sink (interpreter) the first is taken."""
    spent = 0.0

    def run(self: Any, *args: Any, **kwargs: Any) -> Any:
        nonlocal spent
        self.nargs = dict(zip(self.arg_names, args, strict=False))
        configs = list(self.prune_configs(kwargs) if len(self.configs) > 1 else self.configs)
        if sink is None or len(configs) == 1:
            self.best_config = configs[0]
            return _run_config(self, configs[0], args, kwargs)
        result, first, tried = None, configs[0], 0
        with sink.choosing(id(self), _question(self, args, kwargs)) as choosing:
            for config in configs:
                if choosing.count and (spent >= compile_budget_s or not choosing.has_room):
                    break
                tried += 1
                started = time.monotonic()
                try:
                    with choosing.alternative(_label(config)):
                        done = _run_config(self, config, args, kwargs)
                except _DOES_NOT_FIT:
                    if tried == len(configs) and not choosing.count:
                        raise
                    continue
                finally:
                    spent += time.monotonic() - started
                if choosing.count == 1:
                    result, first = done, config
        self.nargs = None
        self.best_config = first
        kernel = self.base_fn.__name__
        if choosing.count == 1:
            sink.note(f"autotuner of {kernel}: took the first of {len(configs)} configurations that compiles ({first})")
        else:
            sink.note(f"autotuner of {kernel}: the launcher takes the fastest of {choosing.count} of {len(configs)} configurations")
        return result

    def best_config(self: Any) -> Any:
        """Host code that acts on the answer gets the first configuration, and then that is the answer."""
        if sink is not None:
            sink.settle(id(self))
        try:
            return vars(self)["assay_best_config"]
        except KeyError:
            raise AttributeError("best_config: nothing was launched yet") from None

    Autotuner.run = run
    Autotuner.best_config = property(best_config, lambda self, config: vars(self).update(assay_best_config=config))


def _run_config(tuner: Any, config: Any, args: Any, kwargs: Any) -> Any:
    if config.pre_hook is not None:
        config.pre_hook({**tuner.nargs, **kwargs, **config.all_kwargs()})
    return tuner.fn.run(*args, **kwargs, **config.all_kwargs())


def _question(tuner: Any, args: Any, kwargs: Any) -> tuple[Any, ...]:
    """What Triton looks an earlier answer up by."""
    named = {name: value for name, value in {**dict(zip(tuner.arg_names, args, strict=False)), **kwargs}.items() if name in tuner.arg_names}
    values = [named[key] for key in tuner.keys if key in named]
    return (*map(str, values), *(str(value.dtype) for value in named.values() if hasattr(value, "dtype")))


def _label(config: Any) -> str:
    return str(config)[:MAX_LABEL_CHARS]


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
