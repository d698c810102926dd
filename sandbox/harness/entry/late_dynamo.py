"""Leaves torch._dynamo unloaded until something uses it.

    late_dynamo.install()  # before the first FakeTensorMode

torch imports torch._dynamo with the first FakeTensorMode, or with the first operation on the device
`meta` that torch implements in Python. This takes two seconds of processor time. But torch reads
only its configuration, and marks functions that no compiler should look into. Few submissions need
more of it (torch.compile). So the package is in sys.modules with just that. The first access to
anything else loads it completely, in the process that accesses it.

Older versions of torch use more of the package in every recording, so there it is loaded at once.
Otherwise each candidate would load it."""

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
# torch._compile keeps what disable() returned in this attribute of a function.
KEPT = "__dynamo_disable"
FIRST_RELEASE = (2, 13)  # the first release of torch of which this was seen to be enough
_unmarked: list[Any] = []  # the functions that torch marked while the package was not loaded


class _Late(types.ModuleType):
    """A package whose __init__.py has not been executed."""

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):  # what the import system asks for does not need the package
            raise AttributeError(f"module {NAME!r} has no attribute {name!r}")
        load(self)
        return getattr(self, name)


class _Finder:
    """Loads the package before a module that needs it. The package and torch._inductor import each
    other, which works in torch's own order only."""

    @staticmethod
    def find_spec(name: str, path: Any = None, target: Any = None) -> ModuleSpec | None:
        package = sys.modules.get(NAME)
        if not isinstance(package, _Late) or not name.startswith(NEEDING) or name == CONFIG:
            return None
        load(package)
        # If the package has imported the module itself, the import system must not execute the
        # module a second time.
        present = sys.modules.get(name)
        return None if present is None else ModuleSpec(name, _Present(present))


class _Present(importlib.abc.Loader):
    """Gives the import system a module that is loaded, and leaves the module as it is."""

    def __init__(self, module: types.ModuleType) -> None:
        self.module, self.spec = module, module.__spec__
        module.__spec__ = None  # otherwise the import system prefers it to the finder's answer

    def create_module(self, spec: ModuleSpec) -> types.ModuleType:
        return self.module

    def exec_module(self, module: types.ModuleType) -> None:
        module.__spec__ = self.spec


def install(or_load: bool = True) -> None:
    """Does nothing if the package is already loaded. If this release of torch uses more of the
    package than its configuration, loads the package, or does nothing if `or_load` is false."""
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
    """Marks a function for torch itself: it stays as it is, because nothing compiles it before the
    package is loaded. Any other use loads the package."""
    package = sys.modules[NAME]
    if fn is None or options != {"wrapping": False}:
        load(package)
        return package.disable(fn, recursive, **options)
    _unmarked.append(fn)
    return fn


def load(package: types.ModuleType) -> None:
    """Executes the package's __init__.py. torch marks its functions anew when it next calls
    them."""
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
