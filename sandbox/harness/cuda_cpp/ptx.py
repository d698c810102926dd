"""Reads the type of each kernel parameter from PTX. A cubin does not contain these types.

    parameters(ptx_text, "softmax")  # [Parameter(kind="integer", size=8), ...]

All functions are pure. The PTX comes from a compiler whose input is untrusted. So a parameter of
unknown form is an error. The module never guesses a type."""

from __future__ import annotations

import re
from dataclasses import dataclass

from harness.entry.errors import CudaCompilationError

_PARAMETER = re.compile(
    r"\.param\s+(?:\.align\s+(?P<align>\d+)\s+)?\.(?P<type>[a-z]\d+)\s+(?:\.ptr(?:\s+\.\w+)*(?:\s+\.align\s+\d+)?\s+)?[\w$]+(?:\[(?P<count>\d+)\])?"
)


@dataclass(frozen=True)
class Parameter:
    kind: str  # "integer" (pointers too), "float" or "bytes"
    size: int


def parameters(ptx: str, kernel: str) -> list[Parameter]:
    """Returns the parameters of a kernel in a PTX text, in order. Raises CudaCompilationError if
    the text does not contain the kernel."""
    entry = re.search(rf"\.entry\s+{re.escape(kernel)}\s*\(([^)]*)\)", ptx)
    if entry is None:
        if re.search(rf"\.entry\s+{re.escape(kernel)}\s*[\r\n{{.]", ptx):
            return []
        raise CudaCompilationError(
            f"the compiled source has no kernel {kernel}; is it a __global__ function?", None
        )
    body = entry.group(1).strip()
    return [_parameter(part) for part in body.split(",")] if body else []


def _parameter(text: str) -> Parameter:
    match = _PARAMETER.fullmatch(text.strip())
    if match is None:
        raise CudaCompilationError(
            f"a kernel's parameter is unknown to the recorder: {text.strip()[:200]}", None
        )
    kind, bits = match["type"][0], int(match["type"][1:])
    if match["count"] is not None:
        return Parameter("bytes", bits // 8 * int(match["count"]))
    return Parameter("float" if kind == "f" else "integer", bits // 8)
