"""Reads tensors of a dataset's safetensors files. The files are untrusted: the safetensors library
checks them, and no path may leave the dataset's folder.

    data = TensorFiles(folder).read("blob/w.safetensors", "kv_indptr", "kv_indptr", "int32", [5])

Not thread-safe."""

from __future__ import annotations

import contextlib
import hashlib
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from trace_types import BadEntry, Workload

LFS_POINTER = b"version https://git-lfs.github.com/spec/v1"
INSTALL = "install it: python -m pip install safetensors==0.8.0"
# The names of dtypes in safetensors files.
DTYPES = {
    "F32": "float32",
    "F16": "float16",
    "BF16": "bfloat16",
    "F8_E4M3": "float8_e4m3fn",
    "F8_E5M2": "float8_e5m2",
    "I64": "int64",
    "I32": "int32",
    "I16": "int16",
    "I8": "int8",
    "BOOL": "bool",
}


class TensorFiles:
    def __init__(self, folder: Path) -> None:
        """Paths in workloads are relative to `folder`."""
        self._folder = folder.resolve()
        self._last: tuple[Path, dict[str, Any]] | None = None

    def read(self, path: str, key: str, name: str, dtype: str, shape: list[int]) -> bytes:
        """Returns the elements of the tensor `key` in row-major order. Raises BadEntry if the file
        has no such tensor of this dtype and shape."""
        found = self._tensors(path, name)
        if key not in found:
            names = ", ".join(sorted(found)[:8])
            raise BadEntry("missing_tensor", f"input {name}: {path} has no {key!r}; it has {names}")
        described = found[key]
        if DTYPES.get(described["dtype"]) != dtype or list(described["shape"]) != shape:
            raise BadEntry(
                "wrong_tensor",
                f"input {name}: {path} has {described['dtype']} {list(described['shape'])}; the "
                f"workload needs {dtype} {shape}",
            )
        return bytes(described["data"])

    def digest(self, workloads: Iterable[Workload]) -> str:
        """Returns a digest of the sizes and times of the files that the workloads name."""
        names = {
            given["path"]
            for workload in workloads
            for given in workload.inputs.values()
            if given["type"] == "safetensors"
        }
        known = []
        for name in sorted(names):
            with contextlib.suppress(OSError, ValueError):
                status = (self._folder / name).stat()
                known.append(f"{name} {status.st_size} {status.st_mtime_ns}")
        return hashlib.sha256("\n".join(known).encode()).hexdigest() if names else ""

    def _tensors(self, path: str, name: str) -> dict[str, Any]:
        full = (self._folder / path).resolve()
        if not full.is_relative_to(self._folder):
            raise BadEntry("outside", f"input {name}: {path} is outside of the dataset's folder")
        if self._last is None or self._last[0] != full:
            self._last = full, _deserialized(full, path, name)
        return self._last[1]


def _deserialized(full: Path, path: str, name: str) -> dict[str, Any]:
    try:
        data = full.read_bytes()
    except OSError as error:
        raise BadEntry(
            "missing_safetensors",
            f"input {name}: {path} cannot be read ({error.strerror}); download the dataset's blobs",
        ) from error
    if data.startswith(LFS_POINTER):
        raise BadEntry(
            "missing_safetensors",
            f"input {name}: {path} is a pointer of Git LFS; fetch it: git lfs pull",
        )
    try:
        import safetensors
    except ImportError as error:
        raise BadEntry(
            "no_safetensors", f"input {name} needs the package safetensors; {INSTALL}"
        ) from error
    try:
        return dict(safetensors.deserialize(data))
    except safetensors.SafetensorError as error:
        raise BadEntry(
            "bad_safetensors", f"input {name}: {path} is no safetensors file: {error}"
        ) from error
