"""Fills uninitialised memory with known contents. Two kinds of memory count as uninitialised:
memory that torch allocates without initialising it, and a margin around each tensor.

    with Surroundings(Contents.NOT_A_NUMBER, "cuda"):
        x = torch.empty(3, device="cuda")  # NaNs, with a margin of NaNs before and behind
    given = placed(value, value.dtype, Contents.NOT_A_NUMBER)  # a copy inside such a margin

If code runs twice with different contents, the results show which elements depend on uninitialised
memory. Such an element was never written, or it was computed from uninitialised memory or from
memory beyond a tensor (open_elements.py). The integer contents are small and positive, so that an
access stays inside mapped memory if it uses such an integer as an index. Use this module from one
thread at a time."""

from __future__ import annotations

import enum
from collections.abc import Sequence
from typing import Any

import torch
from torch._subclasses.fake_tensor import FakeTensor
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_flatten, tree_map_only

from harness.wire.tensors import WORDS, span_bytes, span_view

# The size of the margin before a tensor, and of the margin behind it. This size is enough, because
# a kernel that accesses memory beyond a tensor goes only a few rows too far.
MARGIN_BYTES = 1 << 20
# This number is larger than any number in a golden file's inputs, and it is in the range of every
# float dtype.
FINITE = 400.0
_UNINITIALISED = frozenset(
    getattr(torch.ops.aten, name)
    for name in (
        "empty",
        "empty_like",
        "empty_permuted",
        "empty_strided",
        "new_empty",
        "new_empty_strided",
    )
)


class Contents(enum.Enum):
    """Contents for uninitialised memory: one number for float dtypes, and one for integer
    dtypes."""

    ZERO = (0.0, 0)
    NOT_A_NUMBER = (float("nan"), 1)
    LARGE = (FINITE, 2)

    def word(self, dtype: torch.dtype) -> int:
        """Returns the bits of one element, as an integer of the element's size."""
        if dtype is torch.bool:
            return int(self is not Contents.ZERO)
        value = self.value[0] if dtype.is_floating_point else self.value[1]
        return int(
            torch.tensor(value, dtype=torch.float32).to(dtype).view(WORDS[dtype.itemsize]).item()
        )


def room(
    shape: Sequence[int],
    strides: Sequence[int],
    dtype: torch.dtype,
    device: torch.device,
    contents: Contents,
) -> torch.Tensor:
    """Returns a new tensor with this shape, strides and dtype. The tensor and the margins around it
    are filled with `contents`."""
    margin = MARGIN_BYTES // dtype.itemsize
    elements = span_bytes(shape, strides, dtype.itemsize) // dtype.itemsize
    memory = torch.full(
        (2 * margin + elements,), contents.word(dtype), dtype=WORDS[dtype.itemsize], device=device
    )
    made = torch.empty(0, dtype=dtype, device=device)
    return made.set_(memory.untyped_storage(), margin, tuple(shape), tuple(strides))


def placed(value: torch.Tensor, dtype: torch.dtype, contents: Contents) -> torch.Tensor:
    """Returns a copy of `value` with the same strides, between margins that are filled with
    `contents`. If the dtype stays the same, the gaps between the elements are copied too."""
    made = room(value.shape, value.stride(), dtype, value.device, contents)
    if dtype != value.dtype:
        return made.copy_(value)
    # The bytes are copied, because copy_() does not accept an expanded tensor, in which several
    # elements share one address.
    span_view(made).copy_(span_view(value))
    return made


class ZeroFilled(TorchDispatchMode):
    """While this mode is active, torch fills the memory that it allocates with zeros. Without a GPU,
    this makes a test part's inputs reproducible."""

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        returned = func(*args, **(kwargs or {}))
        if getattr(func, "overloadpacket", None) in _UNINITIALISED:
            returned.zero_()
        return returned


class Surroundings(TorchDispatchMode):
    """While this mode is active, each tensor that torch creates on the device lies between margins
    that are filled with `contents`. A tensor that torch does not initialise is filled with
    `contents` too."""

    def __init__(self, contents: Contents, device_type: str) -> None:
        super().__init__()
        self._contents = contents
        self._device_type = device_type

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        returned = func(*args, **(kwargs or {}))
        given = {
            x.untyped_storage()._cdata
            for x in tree_flatten((args, kwargs))[0]
            if self._has_margin(x)
        }
        uninitialised = getattr(func, "overloadpacket", None) in _UNINITIALISED

        def surrounded(made: torch.Tensor) -> torch.Tensor:
            if not self._has_margin(made) or made.untyped_storage()._cdata in given:
                return made
            if uninitialised:
                return room(made.shape, made.stride(), made.dtype, made.device, self._contents)
            return placed(made, made.dtype, self._contents)

        return tree_map_only(torch.Tensor, surrounded, returned)

    def _has_margin(self, x: Any) -> bool:
        if (
            not isinstance(x, torch.Tensor)
            or isinstance(x, FakeTensor)
            or x.device.type != self._device_type
            or x.layout != torch.strided
        ):
            return False
        return x.numel() > 0 and not x.is_complex()
