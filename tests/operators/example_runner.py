"""Runs or compiles every example of a folder in this process. Prints one line of JSON for each
example, with the example's name and its error or null.

    example_runner.py interpret FOLDER
    example_runner.py compile FOLDER

`interpret` runs each `check()` in Triton's interpreter. It leaves out examples in Gluon, which has
no interpreter. `compile` runs each `check()` and compiles the kernels that it launches for an
NVIDIA H100. The machine needs no GPU for that."""

from __future__ import annotations

import importlib.util
import json
import os
import sys
import traceback
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any


def load(path: Path) -> ModuleType:
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec and spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def first_configuration(_tuner: Any, *_arguments: Any, **_options: Any) -> list[float]:
    """Replaces the timing of autotuner configurations, which needs a GPU. All times are equal, so
    the autotuner chooses the first configuration."""
    return [1.0, 1.0, 1.0]


def compile_only(compiled: list[str]) -> None:
    """Makes every launch only compile for cuda:90."""
    from triton.backends.compiler import GPUTarget
    from triton.runtime import driver, jit

    driver.set_active(
        SimpleNamespace(
            get_current_target=lambda: GPUTarget("cuda", 90, 32),
            get_current_device=lambda: 0,
            get_current_stream=lambda _device: 0,
        )
    )
    launch = jit.JITFunction.run

    def warm_up(self: Any, *arguments: Any, grid: Any, warmup: bool, **options: Any) -> Any:
        compiled.append(self.__name__)
        return launch(self, *arguments, grid=grid, warmup=True, **options)

    jit.JITFunction.run = warm_up


def main(mode: str, folder: Path) -> None:
    if mode == "interpret":
        os.environ["TRITON_INTERPRET"] = "1"
    import torch
    from triton.runtime.autotuner import Autotuner

    Autotuner._bench = first_configuration
    compiled: list[str] = []
    if mode == "compile":
        compile_only(compiled)
    for path in sorted(folder.glob("*.py")):
        if mode == "interpret" and "@gluon.jit" in path.read_text():
            continue
        torch.manual_seed(0)
        compiled.clear()
        problem = None
        try:
            load(path).check()
        except AssertionError:
            problem = (
                traceback.format_exc() if mode == "interpret" else None
            )  # No kernel ran, so an assertion may fail.
        except Exception:
            problem = traceback.format_exc()
        if mode == "compile" and not problem and not compiled:
            problem = "no kernel was compiled"
        print(json.dumps({"name": path.stem, "problem": problem}), flush=True)


if __name__ == "__main__":
    main(sys.argv[1], Path(sys.argv[2]))
