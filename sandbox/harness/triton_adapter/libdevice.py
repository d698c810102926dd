"""Links into a kernel only those functions of libdevice that the kernel calls.

    split()               # once in the zygote
    install(cache_dir)    # in a candidate, before it compiles

libdevice is NVIDIA's library of mathematical functions, a file of LLVM bitcode. For each kernel that
calls one of its functions, Triton parses all 313 functions, which takes about a third of a small
compilation. split() prints the library once as text. For each compilation, the text of the
functions that the kernel calls, and of everything that these functions refer to, becomes a small
library. Linking the small library gives the same code (tests/sandbox/harness/triton_adapter/).

libdevice asks LLVM for options, such as "__CUDA_FTZ". LLVM answers when it generates code, and
leaves the names of the options in the kernel's PTX, where nothing uses them. ptxas makes a variable
in device memory of each name, and because of this variable a launcher would load the kernel again
before each sample that it times (docs/explanation/timing.md). So a candidate drops these names. The
machine code is the same."""

from __future__ import annotations

import hashlib
import re
import sys
import tempfile
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

from triton import knobs
from triton._C.libtriton import ir, llvm, nvidia
from triton.backends.nvidia import compiler as nvidia_compiler
from triton.language.extra.cuda import libdevice as names_of_libdevice

# The layout that Triton gives to every module for a GPU of NVIDIA. The processor does not matter
# here, because the text of the library does not depend on it.
TRIPLE, PROCESSOR, FEATURES = "nvptx64-nvidia-cuda", "sm_80", "+ptx80"
_NAMED = re.compile(r"^(@[\w.$]+) = ", re.MULTILINE)
_FUNCTION = re.compile(r"^(?:define|declare) [^@]*(@[\w.$]+)\(")
_ATTRIBUTES = re.compile(r"^attributes (#\d+) = ")
_METADATA = re.compile(r"^(!\d+) = ")
_TYPE = re.compile(r"^(%[\w.]+) = type ")
# The name of an option in PTX.
_OPTION = re.compile(
    r"^\.global \.align 1 \.b8 (_\$_str[\w$]*)\[\d+\] = \{[^}]*\};\n", re.MULTILINE
)
_REFERENCE = re.compile(r"@[\w.$]+|#\d+|!\d+|%(?:struct|union|class)\.[\w.]+")


class _Parts:
    """The parts of a module's text: functions, global values, attributes, metadata and types, each
    by the name that other parts use."""

    def __init__(self, text: str) -> None:
        self.parts: dict[str, str] = {}
        lines = iter(text.splitlines())
        for line in lines:
            if named := _FUNCTION.match(line):
                body = [line]
                if line.startswith("define"):
                    while body[-1] != "}":
                        body.append(next(lines))
                self.parts[named[1]] = "\n".join(body)
            elif named := (
                _NAMED.match(line)
                or _ATTRIBUTES.match(line)
                or _METADATA.match(line)
                or _TYPE.match(line)
            ):
                self.parts[named[1]] = line
        self._referred = {
            name: [one for one in dict.fromkeys(_REFERENCE.findall(part)) if one != name]
            for name, part in self.parts.items()
        }

    def library(self, functions: Iterable[str]) -> str:
        """Returns the text of a module that exports these functions."""
        exported = set(functions)
        needed: dict[str, None] = {}
        open_names = sorted(exported)
        while open_names:
            name = open_names.pop()
            if name not in needed and name in self.parts:
                needed[name] = None
                open_names += self._referred[name]
        # The parts keep the order that they have in the library.
        return "".join(
            (part.replace("define internal", "define", 1) if name in exported else part) + "\n"
            for name, part in self.parts.items()
            if name in needed
        )


_parts: _Parts | None = None
_link: Callable[[Any, list[str]], None] = llvm.link_extern_libs
_to_text: Callable[..., str] = llvm.translate_to_asm


def path() -> str:
    """Returns the path of the libdevice that Triton links by default."""
    given = knobs.nvidia.libdevice_path
    return str(given or Path(nvidia_compiler.__file__).parent / "lib" / "libdevice.10.bc")


def split() -> None:
    """Reads libdevice and keeps the text of its parts, for all candidates that are forked later. If
    this Triton's library cannot be read or printed, candidates link the whole library, as Triton
    does, and stderr says why."""
    global _parts
    try:
        source = Path(names_of_libdevice.__file__).read_text(encoding="utf-8")
        functions = sorted(set(re.findall(r'"(__nv_\w+)"', source)))
        _parts = _Parts(_printed(path(), functions))
    except Exception as error:
        print(f"kernels link the whole of libdevice: {error!r}", file=sys.stderr, flush=True)


def _printed(library: str, functions: list[str]) -> str:
    """Returns the text of a module into which these functions of the library were linked."""
    context = ir.context()
    ir.load_dialects(context)
    nvidia.load_dialects(context)
    with tempfile.NamedTemporaryFile("w", suffix=".mlir") as file:
        file.write("\n".join(f"llvm.func @{name}()" for name in functions))
        file.flush()
        declared = ir.parse_mlir_module(file.name, context)
    llvm.init_targets()
    llvm_context = llvm.context()
    module = llvm.to_module(declared, llvm_context)
    llvm.attach_datalayout(module, TRIPLE, PROCESSOR, FEATURES)
    _link(module, [library])
    return str(module)


def without_options(ptx: str) -> str:
    """Returns PTX without the names of options that nothing in it uses."""

    def kept(option: re.Match[str]) -> str:
        uses = re.findall(rf"{re.escape(option[1])}(?![\w$])", ptx)
        return option[0] if len(uses) > 1 else ""

    return _OPTION.sub(kept, ptx)


def install(cache_dir: str) -> None:
    """Makes Triton drop the names of options, and link the small libraries, which are written into
    `cache_dir`. It links the whole library if split() was not called."""
    llvm.translate_to_asm = lambda *given: without_options(_to_text(*given))
    if _parts is None:
        return
    parts, whole = _parts, path()

    def link(module: Any, paths: list[str]) -> None:
        declared = [
            f"@{function.name}" for function in module.get_functions() if function.is_declaration()
        ]
        called = [name for name in declared if name.startswith("@__nv_")]
        if list(paths) == [whole] and all(name in parts.parts for name in called):
            text = parts.library(called)
            small = Path(cache_dir) / f"{hashlib.sha256(text.encode()).hexdigest()[:16]}.ll"
            small.write_text(text, encoding="utf-8")
            paths = [str(small)]
        _link(module, paths)

    llvm.link_extern_libs = link
