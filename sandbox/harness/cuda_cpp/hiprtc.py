"""Calls hipRTC through ctypes. hipRTC compiles HIP C++ to a code object for AMD's GPUs.

    compiler = HipRtc.load()  # raises UnsupportedHere; once in a process is enough
    program = compiler.compile(source, "hip:gfx942", ["softmax<256, float>"], [])
    program.lowered["softmax<256, float>"]  # the name in the code object

The library is that of a PyTorch for ROCm, or that of the machine. If hipRTC rejects a source, a
CudaCompilationError contains its log. The line numbers in the log are those of the submission. Not
thread-safe."""

from __future__ import annotations

import ctypes
import importlib.util
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from harness.cuda_cpp.ptx import Parameter
from harness.entry.errors import CudaCompilationError, UnsupportedHere
from harness.recording.code_object import CodeObject, packed_offsets, read_code_object
from harness.recording.resources import Resources

SOURCE_NAME = "submission.cu"
MAX_LOG_CHARS = 16_000
# The names of the library, newest version first. Until ROCm 5 the HIP runtime contained hipRTC.
LIBRARIES = ("libhiprtc.so.7", "libhiprtc.so.6", "libhiprtc.so", "libamdhip64.so.5")
INSTALL = "install a PyTorch for ROCm, or the package hiprtc of ROCm 6 or newer"
_OK, _COMPILATION_FAILED = 0, 6
_DEFAULT_STANDARD = "-std=c++17"
# The first version of ROCm that compiles for the target. An older version ends the process.
_FIRST_VERSION = {"hip:gfx90a": (5, 0), "hip:gfx942": (6, 0), "hip:gfx950": (7, 0)}
_OPTIONS = {
    "--use_fast_math": "-ffast-math",
    "--fmad=true": "-ffp-contract=fast",
    "--fmad=false": "-ffp-contract=off",
    **{f"--std=c++{year}": f"-std=c++{year}" for year in (14, 17, 20)},
}
_DEFINE = "--define-macro="
# hipRTC writes the source to a temporary folder, and names it after the program or "CompileSource".
_PLACE = re.compile(rf"^\S*/(?:CompileSource|{re.escape(SOURCE_NAME)})(?=:\d+:)", re.MULTILINE)
_ERROR = re.compile(
    rf"^{re.escape(SOURCE_NAME)}:(\d+):\d+: (?:fatal )?error: (?!.*__hiprtc_)", re.MULTILINE
)
_POINTER_BYTES = 8
_INTEGERS = {
    "bool", "char", "signed char", "unsigned char", "short", "unsigned short", "int", "unsigned int",
    "long", "unsigned long", "long long", "unsigned long long",
}  # fmt: skip
_FLOATS = {"float", "double"}


@dataclass(frozen=True)
class HipProgram:
    """One compiled source."""

    target: str
    image: bytes  # the code object, which contains all requested kernels
    lowered: dict[str, str]  # maps a name expression to the kernel's name in the code object

    @cached_property
    def code(self) -> CodeObject:
        return read_code_object(self.image)

    def parameters(self, symbol: str) -> list[Parameter]:
        """Returns the parameters of a kernel, in order. The code object has their sizes, and the
        mangled name has their types. Raises CudaCompilationError."""
        arguments = self.code.kernel(symbol).arguments
        types = parameter_types(demangled(symbol))
        sizes = [argument.size for argument in arguments]
        if len(types) != len(sizes):
            raise CudaCompilationError(
                f"kernel {symbol} has {len(sizes)} parameters, and its name has {len(types)}", None
            )
        scalar = all(size in (1, 2, 4, _POINTER_BYTES) for size in sizes)
        if scalar and packed_offsets(sizes) != [argument.offset for argument in arguments]:
            raise CudaCompilationError(
                f"kernel {symbol}: a parameter is not at a multiple of its size; pass scalars and pointers",
                None,
            )
        return [
            _parameter(name, argument.kind, argument.size)
            for name, argument in zip(types, arguments, strict=True)
        ]

    def resources(self, symbol: str) -> Resources:
        kernel = self.code.kernel(symbol)
        return Resources(kernel.vector_registers, kernel.scratch_bytes)

    def static_shared_bytes(self, symbol: str) -> int:
        return self.code.kernel(symbol).lds_bytes

    def max_threads(self, symbol: str) -> int:
        return self.code.kernel(symbol).max_threads


def _parameter(name: str, kind: str, size: int) -> Parameter:
    if kind == "global_buffer" or name.endswith("*"):
        return Parameter("integer", _POINTER_BYTES)
    if name in _INTEGERS:
        return Parameter("integer", size)
    return Parameter("float" if name in _FLOATS else "bytes", size)


def demangled(symbol: str) -> str:
    """Returns the C++ form of a mangled name. Raises CudaCompilationError for a name without the
    types of the parameters."""
    demangle = ctypes.CDLL("libstdc++.so.6").__cxa_demangle
    demangle.restype = ctypes.c_void_p
    status = ctypes.c_int()
    text = demangle(symbol.encode(), None, None, ctypes.byref(status))
    if status.value != 0 or not text:
        raise CudaCompilationError(
            f'kernel {symbol}: its name has no types of parameters; leave out extern "C"', None
        )
    try:
        return (ctypes.cast(text, ctypes.c_char_p).value or b"").decode()
    finally:
        free = ctypes.CDLL(None).free
        free(ctypes.c_void_p(text))


def parameter_types(function: str) -> list[str]:
    """Splits the parameters of a function: "void add<4>(float*, int)" has "float*" and "int"."""
    end = function.rindex(")")
    depth = 0
    for at in range(end, -1, -1):
        depth += {")": 1, ">": 1, "(": -1, "<": -1}.get(function[at], 0)
        if depth == 0:
            return list(_split(function[at + 1 : end]))
    return []


def _split(text: str) -> Iterator[str]:
    depth, begin = 0, 0
    for at, char in enumerate(text):
        depth += {"(": 1, "<": 1, ")": -1, ">": -1}.get(char, 0)
        if char == "," and depth == 0:
            yield text[begin:at].strip()
            begin = at + 1
    if text[begin:].strip():
        yield text[begin:].strip()


class HipRtc:
    """The loaded hipRTC library."""

    _loaded: HipRtc | None = None

    def __init__(self) -> None:
        self._library, self.name = _open()
        self.version = self._version()

    @classmethod
    def load(cls) -> HipRtc:
        """Loads the library at the first call in a process. Raises UnsupportedHere if there is
        none."""
        if HipRtc._loaded is None:
            HipRtc._loaded = cls()
        return HipRtc._loaded

    def compile(
        self, source: str, target: str, names: Sequence[str], options: Sequence[str]
    ) -> HipProgram:
        """Compiles a source for `target`. `names` are the kernels that the code object must
        contain. Raises CudaCompilationError, and UnsupportedHere if this hipRTC is too old."""
        first = _FIRST_VERSION.get(target)
        if first is None:
            raise UnsupportedHere(
                f"HIP C++ cannot be compiled for {target}; valid: {', '.join(_FIRST_VERSION)}"
            )
        if self.version and self.version < first:
            have, need = (".".join(map(str, one)) for one in (self.version, first))
            raise UnsupportedHere(
                f"HIP C++ cannot be compiled for {target} here: {self.name} is of ROCm {have}, and ROCm {need} or newer knows the target"
            )
        given = [f"--offload-arch={target.partition(':')[2]}", "-O3", *map(_option, options)]
        if not any(option.startswith("-std=") for option in given):
            given.append(_DEFAULT_STANDARD)
        program = ctypes.c_void_p()
        created = self._library.hiprtcCreateProgram(
            ctypes.byref(program),
            source.encode("utf-8", "replace"),
            SOURCE_NAME.encode(),
            0,
            None,
            None,
        )
        self._check(created, "hiprtcCreateProgram")
        try:
            return self._compiled(program, target, names, [option.encode() for option in given])
        finally:
            self._library.hiprtcDestroyProgram(ctypes.byref(program))

    def _compiled(
        self, program: ctypes.c_void_p, target: str, names: Sequence[str], options: list[bytes]
    ) -> HipProgram:
        for name in names:
            self._check(
                self._library.hiprtcAddNameExpression(program, name.encode()),
                f"hiprtcAddNameExpression({name})",
            )
        array = (ctypes.c_char_p * len(options))(*options)
        result = self._library.hiprtcCompileProgram(program, len(options), array)
        log = _PLACE.sub(SOURCE_NAME, self._bytes(program, "ProgramLog").decode("utf-8", "replace"))
        if result != _OK:
            at = _ERROR.search(log)
            head = "" if result == _COMPILATION_FAILED else f"{self._name(result)}\n"
            raise CudaCompilationError(
                f"{head}{log}".strip(" \n\0")[:MAX_LOG_CHARS], int(at.group(1)) if at else None
            )
        lowered = {}
        for name in names:
            found = ctypes.c_char_p()
            self._check(
                self._library.hiprtcGetLoweredName(program, name.encode(), ctypes.byref(found)),
                f"hiprtcGetLoweredName({name})",
            )
            lowered[name] = (found.value or b"").decode()
        return HipProgram(target, self._bytes(program, "Code"), lowered)

    def _bytes(self, program: ctypes.c_void_p, what: str) -> bytes:
        size = ctypes.c_size_t()
        self._check(
            self._function(f"hiprtcGet{what}Size")(program, ctypes.byref(size)),
            f"hiprtcGet{what}Size",
        )
        buffer = ctypes.create_string_buffer(max(size.value, 1))
        self._check(self._function(f"hiprtcGet{what}")(program, buffer), f"hiprtcGet{what}")
        return buffer.raw[: size.value]

    def _version(self) -> tuple[int, int]:
        """Returns ROCm's version if the library is the runtime of ROCm 5, and nothing otherwise: a
        library of its own exists since ROCm 6, and reports no useful version."""
        if not hasattr(self._library, "hipRuntimeGetVersion"):
            return ()  # type: ignore[return-value]
        value = ctypes.c_int()
        self._check(self._library.hipRuntimeGetVersion(ctypes.byref(value)), "hipRuntimeGetVersion")
        return value.value // 10_000_000, value.value // 100_000 % 100

    def _function(self, name: str) -> Callable[..., Any]:
        return getattr(self._library, name)  # type: ignore[no-any-return]

    def _name(self, result: int) -> str:
        self._library.hiprtcGetErrorString.restype = ctypes.c_char_p
        text = self._library.hiprtcGetErrorString(result)
        return text.decode() if text else f"error {result}"

    def _check(self, result: int, call: str) -> None:
        if result != _OK:
            raise CudaCompilationError(f"{call}: {self._name(result)}", None)


def _option(option: str) -> str:
    """Returns hipRTC's form of an option of the manifest. Raises UnsupportedHere for an option that
    only NVRTC has."""
    if option.startswith(_DEFINE):
        return f"-D{option.removeprefix(_DEFINE)}"
    if option not in _OPTIONS:
        raise UnsupportedHere(
            f"the option {option} exists only for NVIDIA's GPUs; valid for AMD's: {', '.join(_OPTIONS)}"
        )
    return _OPTIONS[option]


def _open() -> tuple[ctypes.CDLL, str]:
    torch = importlib.util.find_spec("torch")
    folder = Path(torch.origin).parent / "lib" if torch is not None and torch.origin else None
    problems = []
    for name in LIBRARIES:
        for path in (folder / name if folder is not None else None, Path(name)):
            if path is None or (path.is_absolute() and not path.exists()):
                continue
            try:
                return ctypes.CDLL(str(path)), path.name
            except OSError as error:
                problems.append(str(error))
    raise UnsupportedHere(
        f"HIP C++ cannot be compiled here: there is no hipRTC; {INSTALL} ({problems[-1] if problems else ''})"
    )
