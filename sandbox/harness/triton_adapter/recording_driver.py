"""Replaces Triton's driver on a machine without a GPU. The driver compiles for its target, and
passes each launch to a sink.

    install_driver("cuda:90", sink, cache_dir)  # a sink of None refuses launches"""

from __future__ import annotations

import contextlib
import importlib
from typing import Any

import torch
import triton
from triton import knobs
from triton.backends.compiler import GPUTarget
from triton.backends.driver import DriverBase
from triton.compiler import compiler as triton_compiler
from triton.runtime import autotuner, cache
from triton.runtime.cache import FileCacheManager
from triton.runtime.driver import driver

from harness.entry.errors import NotRecordable
from harness.entry.fake_cuda import device_facts
from harness.recording.launches import KernelImage, Launch, Sink
from harness.recording.plan import COOPERATIVE, DEPENDENT_LAUNCH
from harness.triton_adapter import libdevice
from harness.triton_adapter.parameters import extent, parameters

MAX_THREADS_PER_BLOCK = 1024
MAX_GRID = (2**31 - 1, 65535, 65535)


def target_from(name: str) -> GPUTarget:
    backend, _, arch = name.partition(":")
    return GPUTarget(
        backend, int(arch) if backend == "cuda" else arch, device_facts(name).warp_size
    )


def warm() -> None:
    """Does what Triton would do in the first compilation of each candidate: imports its code
    generator (with gluon, 50 ms), asks for the versions of ptxas, and makes a key for the cache."""
    from triton.backends.nvidia.compiler import get_ptxas_version

    importlib.import_module("triton.compiler.code_generator")
    # Triton's own key is a hash of all files of Triton, which takes time. Such a key is needed if
    # several versions of Triton share a cache folder. The cache folder of a candidate has entries
    # of only one version, so the version is enough.
    cache.triton_key = autotuner.triton_key = lambda: triton.__version__
    for arch in (90, 100):
        # The error is ignored here. If this ptxas is missing, the first compilation that needs it
        # reports the error.
        with contextlib.suppress(OSError, RuntimeError):
            get_ptxas_version(arch)


def nvdisasm() -> str:
    """Returns the path of the disassembler: the path in TRITON_NVDISASM_PATH, or the path of the
    disassembler that Triton includes. Raises RuntimeError if there is none."""
    return str(knobs.nvidia.nvdisasm.path)


class _Utils:
    """Replaces the C helper functions of Triton's driver."""

    def __init__(self, target: str) -> None:
        self._facts = device_facts(target)
        self.files: dict[str, str] = {}  # the files of the kernel that will be loaded next
        self.loaded: list[tuple[str, bytes, int, dict[str, str]]] = []

    def load_binary(
        self, name: str, image: bytes, shared: int, _device: int
    ) -> tuple[int, int, int, int, int]:
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


class _Driver(DriverBase):
    """A driver that compiles for its target, and passes each launch to the sink."""

    def __init__(self, target: str, sink: Sink | None) -> None:
        super().__init__()
        self._name = target
        self._target = target_from(target)
        self.utils = _Utils(target)
        self._sink = sink

    def kernel_loading(
        self, _module: Any, _function: Any, _name: str, files: dict[str, str], _hash: str
    ) -> None:
        self.utils.files = dict(files)

    def launcher_cls(self, src: Any, metadata: Any) -> Any:
        kernel: KernelImage | None = None
        num_ctas = int(getattr(metadata, "num_ctas", 1))
        # In Triton, the grid is a number of clusters, so it is multiplied by num_ctas. In TLX, the
        # grid is already a number of CTAs (thread blocks).
        cluster = tuple(getattr(metadata, "ctas_per_cga", None) or (num_ctas, 1, 1))
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
                kernel = KernelImage(
                    name,
                    image,
                    shared,
                    metadata.num_warps,
                    getattr(metadata, "num_stages", 0),
                    files,
                )
            if self._sink is None:
                raise RuntimeError("no kernel can be launched here")
            grid = (extent(grid_x) * num_ctas, extent(grid_y), extent(grid_z))
            params = parameters(src, metadata, arguments)
            if any(size < 0 or size > limit for size, limit in zip(grid, MAX_GRID, strict=True)):
                raise RuntimeError(
                    f"Triton Error [CUDA]: invalid argument (grid {grid}; the limits are {MAX_GRID})"
                )
            if 0 in grid:
                return  # Triton's own launcher does nothing in this case either
            self._sink.launch(Launch(kernel, grid, (threads, 1, 1), cluster, flags, params))

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
        raise NotRecordable("a benchmark cannot be recorded: the recorder has no device to time on")

    def get_empty_cache_for_benchmark(self) -> torch.Tensor:
        return torch.empty(1)

    def clear_cache(self, _cache: torch.Tensor) -> None:
        return None


class _OwnCache(FileCacheManager):
    """Triton's cache, in a temporary folder that only this process uses. Triton's own class first
    writes each file into a separate folder, because several processes may write the same file, or a
    writer may be interrupted. This class omits that step, which takes a sixth of a compilation's
    time."""

    def put(self, data: Any, filename: str, binary: bool = True) -> str:
        path = str(self._make_path(filename))
        with open(path, "wb") as file:
            file.write(data if isinstance(data, bytes) else str(data).encode())
        return path


def install_driver(target: str, sink: Sink | None, cache_dir: str) -> None:
    """Makes the recording driver Triton's active driver. Compiled kernels are cached in
    `cache_dir`."""
    recording = _Driver(target, sink)
    driver.set_active(recording)
    triton_compiler.max_shared_mem.cache_clear()
    knobs.cache.dir = cache_dir
    knobs.cache.manager_class = _OwnCache
    knobs.runtime.kernel_load_start_hook.add(recording.kernel_loading)
    libdevice.install(cache_dir)
