"""Calls NVRTC through ctypes. NVRTC compiles CUDA C++ to cubin and PTX.

    compiler = Nvrtc.load()  # raises UnsupportedHere; once in a process is enough
    program = compiler.compile(source, "cuda:90", ["softmax<256, float>"], ["--use_fast_math"])
    program.lowered["softmax<256, float>"]  # the name in the cubin

If NVRTC rejects a source, a CudaCompilationError contains NVRTC's log. The line numbers in the log
are those of the submission. Not thread-safe."""

from __future__ import annotations

import ctypes
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from harness.cuda_cpp.ptx import Parameter, parameters
from harness.cuda_cpp.toolkit import Toolkit, find_toolkit
from harness.entry.errors import CudaCompilationError, UnsupportedHere
from harness.recording.resources import Resources, read_resources, static_shared_bytes

SOURCE_NAME = "submission.cu"
MAX_LOG_CHARS = 16_000
_DEFAULT_STANDARD = "--std=c++17"
# With this option the binary contains the source line of each instruction. The instructions
# themselves do not change.
_LINES = "--generate-line-info"
# The folder of Assay's own headers. They replace cuda.h and headers of the C library, which NVRTC
# lacks.
_OWN_HEADERS = Path(__file__).resolve().parent / "include"
_OK, _COMPILATION_FAILED = 0, 6
_ERROR = re.compile(rf"^{re.escape(SOURCE_NAME)}\((\d+)\): (?:catastrophic )?error", re.MULTILINE)
# The suffix `a` enables instructions that exist only in that GPU generation (wgmma, setmaxnreg).
# Triton compiles with the same suffix.
_ARCHITECTURES = {"cuda:80": "sm_80", "cuda:90": "sm_90a", "cuda:100": "sm_100a"}


@dataclass(frozen=True)
class Program:
    """One compiled source."""

    target: str
    image: bytes  # the cubin, which contains all requested kernels
    ptx: str
    # Maps a name expression to the kernel's name in the cubin and in the PTX.
    lowered: dict[str, str]

    def parameters(self, symbol: str) -> list[Parameter]:
        """Returns the parameters of a kernel, in order. Raises CudaCompilationError."""
        return parameters(self.ptx, symbol)

    def resources(self, symbol: str) -> Resources:
        return read_resources(self.target, self.image, "", symbol)

    def static_shared_bytes(self, symbol: str) -> int:
        return static_shared_bytes(self.target, self.image, symbol)


class Nvrtc:
    """The loaded NVRTC library."""

    _loaded: Nvrtc | None = None

    def __init__(self, toolkit: Toolkit) -> None:
        self.toolkit = toolkit
        try:
            builtins = toolkit.builtins()
            if builtins is not None:
                # When NVRTC compiles, it opens this library by its file name, without a folder.
                # This works only if the library is already loaded.
                ctypes.CDLL(str(builtins))
            self._library = ctypes.CDLL(str(toolkit.library))
            major, minor = ctypes.c_int(), ctypes.c_int()
            self._check(
                self._library.nvrtcVersion(ctypes.byref(major), ctypes.byref(minor)), "nvrtcVersion"
            )
        except (OSError, AttributeError) as error:
            raise UnsupportedHere(
                f"CUDA C++ cannot be compiled here: {toolkit.library} ({toolkit.origin}) cannot be loaded: {error}"
            ) from error
        self.version = f"{major.value}.{minor.value}"

    @classmethod
    def load(cls) -> Nvrtc:
        """Loads the library at the first call in a process. Raises UnsupportedHere if the library
        cannot be loaded."""
        if Nvrtc._loaded is None:
            Nvrtc._loaded = cls(find_toolkit())
        return Nvrtc._loaded

    def compile(
        self, source: str, target: str, names: Sequence[str], options: Sequence[str]
    ) -> Program:
        """Compiles a source for `target`. `names` are the kernels that the cubin must contain.
        Raises CudaCompilationError."""
        if target not in _ARCHITECTURES:
            raise UnsupportedHere(
                f"CUDA C++ cannot be compiled for {target}; valid: {', '.join(_ARCHITECTURES)}"
            )
        includes = [f"--include-path={folder}" for folder in (_OWN_HEADERS, *self.toolkit.includes)]
        given = [
            f"--gpu-architecture={_ARCHITECTURES[target]}",
            _LINES,
            *includes,
            *options,
        ]
        if not any(option.startswith("--std=") for option in options):
            given.append(_DEFAULT_STANDARD)
        program = ctypes.c_void_p()
        text = source.encode("utf-8", "replace")
        created = self._library.nvrtcCreateProgram(
            ctypes.byref(program), text, SOURCE_NAME.encode(), 0, None, None
        )
        self._check(created, "nvrtcCreateProgram")
        try:
            return self._compiled(program, target, names, [option.encode() for option in given])
        finally:
            self._library.nvrtcDestroyProgram(ctypes.byref(program))

    def _compiled(
        self, program: ctypes.c_void_p, target: str, names: Sequence[str], options: list[bytes]
    ) -> Program:
        for name in names:
            self._check(
                self._library.nvrtcAddNameExpression(program, name.encode()),
                f"nvrtcAddNameExpression({name})",
            )
        array = (ctypes.c_char_p * len(options))(*options)
        result = self._library.nvrtcCompileProgram(program, len(options), array)
        log = self._text(program, "ProgramLog")
        if result == _COMPILATION_FAILED:
            at = _ERROR.search(log)
            raise CudaCompilationError(
                log.strip()[:MAX_LOG_CHARS], int(at.group(1)) if at else None
            )
        if result != _OK:
            raise CudaCompilationError(f"{self._name(result)}\n{log}".strip()[:MAX_LOG_CHARS], None)
        lowered = {}
        for name in names:
            found = ctypes.c_char_p()
            self._check(
                self._library.nvrtcGetLoweredName(program, name.encode(), ctypes.byref(found)),
                f"nvrtcGetLoweredName({name})",
            )
            lowered[name] = (found.value or b"").decode()
        return Program(target, self._bytes(program, "CUBIN"), self._text(program, "PTX"), lowered)

    def _text(self, program: ctypes.c_void_p, what: str) -> str:
        found = self._bytes(program, what)
        return found.rstrip(b"\0").decode("utf-8", "replace")

    def _bytes(self, program: ctypes.c_void_p, what: str) -> bytes:
        size = ctypes.c_size_t()
        self._check(
            self._function(f"nvrtcGet{what}Size")(program, ctypes.byref(size)),
            f"nvrtcGet{what}Size",
        )
        buffer = ctypes.create_string_buffer(max(size.value, 1))
        self._check(self._function(f"nvrtcGet{what}")(program, buffer), f"nvrtcGet{what}")
        return buffer.raw[: size.value]

    def _function(self, name: str) -> Callable[..., Any]:
        return getattr(self._library, name)  # type: ignore[no-any-return]

    def _name(self, result: int) -> str:
        self._library.nvrtcGetErrorString.restype = ctypes.c_char_p
        text = self._library.nvrtcGetErrorString(result)
        return text.decode() if text else f"error {result}"

    def _check(self, result: int, call: str) -> None:
        if result != _OK:
            raise CudaCompilationError(f"{call}: {self._name(result)}", None)


def preload() -> str:
    """Runs in the zygote. Loads the library, so that the candidates inherit it. Returns the
    library's version, or "" if it cannot be loaded. In that case each CUDA C++ job reports the
    reason."""
    try:
        return Nvrtc.load().version
    except (UnsupportedHere, CudaCompilationError):
        return ""
