"""Notes which random tensors a function of a kernel part draws by itself. Some functions of
TritonBench-G take only sizes, and draw their inputs, and one draws the seeds of its dropout. Their
draws become arguments of the operator (harness/imported/golden.py), so that two kernels can be
compared on the same numbers.

    with Draws() as draws:
        call()
    draws.found  # [("randn", [128, 64], "float32"), ("randint", [64], "int64", 0, 10), ...]
    draws.reads_generator  # whether it reads the state of CUDA's random number generator

A kernel that is seeded with this state writes other numbers in every process, so that no answer can
be compared with its outputs."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "sandbox"))

import torch  # noqa: E402
from harness.entry.fake_cuda import FakeGenerator  # noqa: E402
from harness.imported.randint_bounds import randint_bounds  # noqa: E402
from harness.wire.tensors import NAMES  # noqa: E402
from torch.overrides import TorchFunctionMode  # noqa: E402

FUNCTIONS = {torch.randn: "randn", torch.rand: "rand"}
# The function's name, the shape and the dtype; for randint also the lowest number, and the first
# number above the highest.
Draw = tuple[Any, ...]
# Python text of an adapter. It hands out the case's tensors in place of the drawn ones.
MODE = '''from torch.overrides import TorchFunctionMode


class _Drawn(TorchFunctionMode):
    """Hands out the case's tensors in place of the random tensors that the function draws."""

    def __init__(self, *tensors):
        super().__init__()
        self.tensors = list(tensors)

    def __torch_function__(self, func, types, args=(), kwargs=None):
        kwargs = kwargs or {}
        if func is torch.randint:
            size = kwargs["size"] if "size" in kwargs else args[-1]
            dtype = kwargs.get("dtype") or torch.int64
        elif func in (torch.randn, torch.rand):
            size = args[0] if args and not isinstance(args[0], int) else args or kwargs["size"]
            dtype = kwargs.get("dtype") or torch.get_default_dtype()
        else:
            return func(*args, **kwargs)
        for position, tensor in enumerate(self.tensors):
            if tuple(tensor.shape) == tuple(size) and tensor.dtype == dtype:
                return self.tensors.pop(position)
        raise RuntimeError(
            f"{func.__name__} draws {dtype} of shape {tuple(size)}, which the benchmark's function "
            "does not draw, or draws less often"
        )
'''


class Draws(TorchFunctionMode):
    def __init__(self) -> None:
        super().__init__()
        self.found: list[Draw] = []
        self.reads_generator = False
        self._get_state = FakeGenerator.get_state

    def __enter__(self) -> Draws:
        own = FakeGenerator.get_state

        def get_state(generator: FakeGenerator) -> torch.Tensor:
            self.reads_generator = True
            return own(generator)

        self._get_state = own
        FakeGenerator.get_state = get_state  # type: ignore[method-assign]
        super().__enter__()
        return self

    def __exit__(self, *error: Any) -> None:
        super().__exit__(*error)
        FakeGenerator.get_state = self._get_state  # type: ignore[method-assign]

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        kwargs = kwargs or {}
        drawn = func(*args, **kwargs)
        if not isinstance(drawn, torch.Tensor) or drawn.dtype not in NAMES:
            return drawn
        if func in FUNCTIONS:
            self.found.append((FUNCTIONS[func], list(drawn.shape), NAMES[drawn.dtype]))
        elif func is torch.randint:
            bounds = randint_bounds(args, kwargs)
            self.found.append(("randint", list(drawn.shape), NAMES[drawn.dtype], *bounds))
        return drawn
