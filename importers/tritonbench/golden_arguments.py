"""Converts the arguments of a call in a golden file: replaces the test part's real tensors by the
recorder's fake tensors.

    with TestSide():  # the test part runs in this block
        ...
    arguments = Arguments(recorder, structural)  # converts the arguments of one call
    fake_args = arguments.tree(args)  # arguments.real has the real memory of these tensors"""

from __future__ import annotations

import contextlib
import copy
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "sandbox"))

import torch  # noqa: E402
from harness.imported.blind_test import BlindTest  # noqa: E402
from harness.imported.proxies import made_with  # noqa: E402
from harness.interpreting.interpret import CudaOnCpu  # noqa: E402
from torch.utils._pytree import tree_map  # noqa: E402

SCALARS = (bool, int, float, complex, str, bytes, type(None), torch.dtype, torch.device, torch.Size)


class TestSide(CudaOnCpu):
    """The torch function mode in which the test part runs: it puts the tensors that the test part
    makes for a GPU on the CPU, and it does not expect results (blind_test.py). The attribute `off`
    is True while the kernel part runs, because the kernel part's tensors and launches belong to the
    recorder."""

    def __init__(self) -> None:
        super().__init__()
        self._off = False
        self._blind = BlindTest()

    @property
    def off(self) -> bool:
        return self._off

    @off.setter
    def off(self, value: bool) -> None:
        self._off = self._blind.off = value

    @contextlib.contextmanager
    def launching(self) -> Iterator[None]:
        """Lets launches of kernels through. They fail, because the tensors are on the CPU."""
        self._blind.off = True
        try:
            yield
        finally:
            self._blind.off = self._off

    def __enter__(self) -> Any:
        self._blind.__enter__()
        return super().__enter__()

    def __exit__(self, *error: Any) -> None:
        super().__exit__(*error)
        self._blind.__exit__()

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        return (
            func(*args, **(kwargs or {}))
            if self.off
            else super().__torch_function__(func, types, args, kwargs)
        )


class Arguments:
    """Converts the arguments of one call to the recorder's fake tensors. Tensors that share memory
    become views of the same buffer."""

    def __init__(
        self,
        recorder: Any,
        structural: set[str],
        context: Callable[[], contextlib.AbstractContextManager[None]] = contextlib.nullcontext,
    ) -> None:
        """`context` returns the context in which objects of the kernel part are made."""
        self._recorder = recorder
        self._context = context
        self._structural = structural
        self._wholes: dict[int, torch.Tensor] = {}
        # Maps the name of a buffer to a flat view of the real tensor's whole storage.
        self.real: dict[str, torch.Tensor] = {}
        # The pairs (real, fake) of all tensors that need a gradient.
        self.fakes: list[tuple[torch.Tensor, torch.Tensor]] = []

    def convert(self, value: Any) -> Any:
        if isinstance(value, torch.Tensor):
            return self._tensor(value)
        if isinstance(value, SCALARS) or (
            callable(value) and not isinstance(value, torch.nn.Module)
        ):
            return value
        if isinstance(value, torch.nn.Module) or hasattr(value, "__dict__"):
            return self._object(value)
        return value

    def tree(self, value: Any) -> Any:
        return tree_map(self.convert, value)

    def _tensor(self, real: torch.Tensor) -> torch.Tensor:
        key = real.untyped_storage()._cdata
        if key not in self._wholes:
            count = real.untyped_storage().nbytes() // real.element_size()
            flat = torch.empty(0, dtype=real.dtype).set_(real.untyped_storage(), 0, (count,), (1,))
            name = f"arg{len(self._wholes)}"
            self.real[name] = flat
            self._wholes[key] = self._recorder.argument(
                name, flat.dtype, [count], [1], flat if name in self._structural else None
            )
        with self._recorder.fake_mode:
            whole = self._wholes[key]
            whole = whole if whole.dtype == real.dtype else whole.view(real.dtype)
            fake = torch.as_strided(whole, real.shape, real.stride(), real.storage_offset())
            if real.requires_grad:
                fake = fake.detach().requires_grad_()
                self.fakes.append((real, fake))
        return fake

    def _object(self, value: Any) -> Any:
        """Converts an object of the test part or of a class of the kernel part. The tensors in such
        an object are arguments too."""
        if (made := made_with(value)) is not None:
            kind, args, kwargs = made
            fake_args, fake_kwargs = self.tree(args), self.tree(kwargs)
            with self._context():
                return kind(*fake_args, **fake_kwargs)
        twin = copy.copy(value)
        twin.__dict__ = {
            name: {k: self.convert(v) for k, v in item.items()}
            if isinstance(item, dict)
            else self.convert(item)
            for name, item in vars(value).items()
        }
        return twin
