"""Leaves torch._dynamo unloaded until something uses it.

    late_dynamo.install()  # before the first FakeTensorMode

torch imports torch._dynamo with the first FakeTensorMode, or with the first operation on the device
`meta` that torch implements in Python. The import takes two seconds of processor time. After it,
torch uses only two parts of the package: its configuration, and the function `disable`, which
excludes a function from compilation. Only submissions that call torch.compile need the rest. So
this module puts a package into sys.modules that has only these two parts. The first access to any
other part loads the whole package, in the process that accesses it.

Releases of torch before FIRST_RELEASE may use more of the package in every recording. With such a
release, `install` loads the whole package, because otherwise each candidate would load it."""

from __future__ import annotations

import importlib.abc
import importlib.util
import sys
import types
from importlib.machinery import ModuleSpec
from typing import Any

import torch

NAME = "torch._dynamo"
CONFIG = f"{NAME}.config"
NEEDING = (f"{NAME}.", "torch._inductor")  # the names of modules that need the package
# torch._compile stores the result of disable(function) in this attribute of the function.
KEPT = "__dynamo_disable"
FIRST_RELEASE = (2, 11)  # the oldest release of torch that was seen to need only two parts
_unmarked: list[Any] = []  # the functions that torch marked while the package was not loaded


class _Late(types.ModuleType):
    """A package whose __init__.py has not been executed."""

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):  # the import system reads such names; do not load for them
            raise AttributeError(f"module {NAME!r} has no attribute {name!r}")
        load(self)
        return getattr(self, name)


class _Finder:
    """Loads the package before the import of a module that needs the package. The package and
    torch._inductor import each other, and this works only if the package is imported first."""

    @staticmethod
    def find_spec(name: str, path: Any = None, target: Any = None) -> ModuleSpec | None:
        package = sys.modules.get(NAME)
        if not isinstance(package, _Late) or not name.startswith(NEEDING) or name == CONFIG:
            return None
        load(package)
        # If loading the package has already imported the module, the import system must not execute
        # the module a second time.
        present = sys.modules.get(name)
        return None if present is None else ModuleSpec(name, _Present(present))


class _Present(importlib.abc.Loader):
    """Gives a module that is already loaded to the import system, without executing it again."""

    def __init__(self, module: types.ModuleType) -> None:
        self.module, self.spec = module, module.__spec__
        module.__spec__ = None  # otherwise the import system uses this spec, and not the finder's

    def create_module(self, spec: ModuleSpec) -> types.ModuleType:
        return self.module

    def exec_module(self, module: types.ModuleType) -> None:
        module.__spec__ = self.spec


def install(or_load: bool = True) -> None:
    """Puts the package into sys.modules without loading it (see the module's docstring). If this
    release of torch is too old for that, loads the package if `or_load` is true. Does nothing if
    the package is already in sys.modules."""
    if NAME in sys.modules:
        return
    if tuple(int(part) for part in torch.__version__.split(".")[:2]) < FIRST_RELEASE:
        if or_load:
            importlib.import_module(NAME)
        return
    spec = importlib.util.find_spec(NAME)
    if spec is None:
        raise ModuleNotFoundError(f"this torch has no {NAME}")
    package = importlib.util.module_from_spec(spec)
    package.__class__ = _Late
    package.__dict__["disable"] = _disable
    sys.modules[NAME] = package
    torch._dynamo = package
    importlib.import_module(CONFIG)
    sys.meta_path.insert(0, _Finder)  # type: ignore[arg-type]


def _disable(fn: Any = None, recursive: bool = True, **options: Any) -> Any:
    """Takes the place of torch._dynamo.disable. torch calls it with `wrapping=False` for its own
    functions. Such a function is returned unchanged, because nothing compiles functions before the
    package is loaded. Every other call loads the package."""
    package = sys.modules[NAME]
    if fn is None or options != {"wrapping": False}:
        load(package)
        return package.disable(fn, recursive, **options)
    _unmarked.append(fn)
    return fn


def load(package: types.ModuleType) -> None:
    """Loads the package: executes its __init__.py. Also deletes the stored results of `_disable`,
    so that torch calls the real `disable` for each of these functions at its next use."""
    package.__class__ = types.ModuleType
    sys.meta_path[:] = [finder for finder in sys.meta_path if finder is not _Finder]
    spec = package.__spec__
    assert spec is not None and spec.loader is not None
    spec.loader.exec_module(package)
    for fn in _unmarked:
        fn.__dict__.pop(KEPT, None)
    _unmarked.clear()


def is_loaded() -> bool:
    return NAME in sys.modules and not isinstance(sys.modules[NAME], _Late)
