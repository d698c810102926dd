"""Loads PyTorch's shared libraries in a thread while the main thread imports Python modules.

    torch_libraries.load()
    import torch

The libraries have hundreds of megabytes. The linker relocates them, and their initialisers register
thousands of operators. This takes 0.2 s of a CPU build and 0.3 s of a CUDA build, and needs no
Python. Without this module, the import of torch does it, while nothing else can run in the process.

The linker has one lock. So while the thread loads the libraries, the main thread imports only
modules that are written in Python: an extension module would wait for the thread. And none of these
modules changes the environment, which the initialisers of the libraries read."""

from __future__ import annotations

import contextlib
import ctypes
import importlib
import importlib.util
import os
import threading
from collections.abc import Iterable

# torch imports these modules, and each imports many others. sympy, which torch needs for the first
# operation on a fake tensor or on the device `meta`, takes longest. The extension modules among
# them come first, before the thread starts.
EXTENSIONS = ("_decimal", "_hashlib", "_json", "_multiprocessing", "_ssl", "binascii", "zlib")
PYTHON = (
    "sympy",
    "torchgen.model",
    "asyncio",
    "dataclasses",
    "importlib.metadata",
    "inspect",
    "logging",
    "multiprocessing.reduction",
    "pickletools",
    "platform",
    "tarfile",
    "typing_extensions",
    "unittest.mock",
    "urllib.request",
    "zipfile",
)
# The order in which torch loads them. torch makes the symbols of the first one global.
LIBRARIES = (
    ("libtorch_global_deps.so", os.RTLD_GLOBAL),
    ("libtorch.so", os.RTLD_LOCAL),
)


def _folder() -> str | None:
    """Returns the folder of torch's libraries, without importing torch."""
    spec = importlib.util.find_spec("torch")
    if spec is None or spec.origin is None:
        return None
    return os.path.join(os.path.dirname(spec.origin), "lib")


def _load(folder: str) -> None:
    # A function of a ctypes library runs without Python's lock. The constructor of ctypes.CDLL
    # keeps the lock while the linker works.
    dlopen = ctypes.CDLL(None).dlopen
    dlopen.argtypes, dlopen.restype = [ctypes.c_char_p, ctypes.c_int], ctypes.c_void_p
    for name, scope in LIBRARIES:
        # If a library cannot be loaded, the import of torch tries it in other folders, or tells why.
        dlopen(os.path.join(folder, name).encode(), os.RTLD_NOW | scope)


def _import(names: Iterable[str]) -> None:
    for name in names:
        with contextlib.suppress(ImportError):  # this Python or this environment lacks the module
            importlib.import_module(name)


def load() -> None:
    """Loads the libraries, and meanwhile imports PYTHON. When the function returns, the thread has
    ended."""
    folder = _folder()
    if folder is None:
        return  # the import of torch fails, and says so
    _import(EXTENSIONS)
    thread = threading.Thread(target=_load, args=[folder], name="torch-libraries")
    thread.start()
    try:
        _import(PYTHON)
    finally:
        thread.join()
