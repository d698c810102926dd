"""Tracks the contents of tensors while a plan is recorded. Keeps for each storage the values that
host code may read, and the storage's buffer in the plan.

    contents = Contents(draft)
    fake = contents.adopt(torch.tensor([1, 2]))  # a fake tensor with known values
    index = contents.materialise(contents.record_of(fake))

A storage gets a buffer in the plan when a kernel, a fill or a copy needs it. If the storage's
content is known, the plan then writes the content to the buffer. Not thread-safe."""

from __future__ import annotations

from typing import Any

import torch
from torch._subclasses.fake_tensor import FakeTensor, FakeTensorMode
from torch.utils._python_dispatch import _disable_current_modes

from harness.recording import plan as plans
from harness.recording.draft import Draft
from harness.recording.storage import MAX_KNOWN_BYTES, Record, Storages, Uniform, same_element

_ADDRESS = "a tensor holds the address of a tensor; a launch plan cannot hold addresses. Pass the tensors themselves"


class Contents:
    """The contents of all tensors in a recording (see the module's docstring)."""

    def __init__(self, draft: Draft) -> None:
        self._draft = draft
        self.storages = Storages()
        self.fake_mode = FakeTensorMode(allow_non_fake_inputs=True)

    def record_of(self, tensor: torch.Tensor) -> Record:
        record = self.storages.find(tensor)
        return record if record is not None else self.storages.add(tensor, None)

    def values(self, tensor: torch.Tensor) -> torch.Tensor:
        """Returns a view of the known content, with the tensor's layout. Writing to the view
        changes the content."""
        record = self.record_of(tensor)
        with _disable_current_modes():
            flat = record.known_bytes()
            view = torch.empty(0, dtype=tensor.dtype)
            offset = flat.storage_offset() // tensor.element_size() + int(tensor.storage_offset())
            return view.set_(
                flat.untyped_storage(), offset, tuple(tensor.shape), tuple(tensor.stride())
            )  # type: ignore[call-overload, no-any-return]

    def adopt(self, real: torch.Tensor, device: torch.device | None = None) -> torch.Tensor:
        """Returns a fake tensor. Its known values are the values of `real`, a CPU tensor."""
        if real.untyped_storage().nbytes() > MAX_KNOWN_BYTES:
            raise self._draft.refuse(
                f"a constant of {real.untyped_storage().nbytes()} bytes is over the limit of {MAX_KNOWN_BYTES}"
            )
        with _disable_current_modes():
            dense = real.detach().cpu().clone(memory_format=torch.preserve_format)
            content = torch.empty(0, dtype=torch.uint8).set_(dense.untyped_storage())  # type: ignore[call-overload]
            shape, strides = tuple(dense.shape), tuple(dense.stride())
        with self.fake_mode:
            fake = torch.empty_strided(
                shape, strides, dtype=dense.dtype, device=device or real.device
            )
        self.storages.add(fake, content)
        return fake

    def source(self, record: Record) -> int:
        """Returns the plan's buffer from which a copy operation reads this storage's content. If
        the content is known, this buffer is a constant of the plan, which nothing overwrites."""
        if record.host_known:
            if self.storages.holds_address(record.known_bytes()):
                raise self._draft.refuse(_ADDRESS)
            return self._constant(record.nbytes, record.known_bytes())
        return self.materialise(record)

    def _constant(self, nbytes: int, content: torch.Tensor) -> int:
        # The modes must be inactive, because torch also dispatches numpy() on a real tensor, and an
        # active mode would replace the tensor by a fake tensor.
        with _disable_current_modes():
            data = content.numpy().tobytes()
        return self._draft.plan.buffer(plans.BufferKind.CONSTANT, nbytes, constant=data)

    def materialise(self, record: Record) -> int:
        """Returns the storage's buffer in the plan. At the first use of the buffer, the plan writes
        the known content to it."""
        if record.stale:
            raise self._draft.refuse(
                "a tensor that an earlier call of the entry function filled is used again; state between calls cannot be recorded"
            )
        if record.index is not None:
            return record.index
        index = record.index = self._draft.plan.buffer(plans.BufferKind.SCRATCH, record.nbytes)
        content = record.content
        if content is not None and record.nbytes and self.storages.holds_address(content):
            raise self._draft.refuse(_ADDRESS)
        if isinstance(content, torch.Tensor) and record.nbytes:
            content = same_element(content) or content
        if isinstance(content, Uniform) and record.nbytes:
            self._draft.prepare(
                plans.Fill(index, 0, record.nbytes // content.width, content.width, content.pattern)
            )
        elif isinstance(content, torch.Tensor) and record.nbytes:
            constant = self._constant(record.nbytes, content)
            self._draft.prepare(plans.Copy(index, 0, constant, 0, record.nbytes))
        return index

    def patch_fake_tensor(self) -> None:
        """Makes fake tensors return their addresses, and their values if the values are known."""

        def data_ptr(tensor: FakeTensor) -> int:
            record = self.record_of(tensor)
            return (
                record.address + int(tensor.storage_offset()) * tensor.element_size()
                if record.nbytes
                else 0
            )

        def known(tensor: FakeTensor, how: str) -> torch.Tensor:
            record = self.record_of(tensor)
            if record.content is None or record.stale:
                why = f"{how} reads the values of a device tensor on the host; a launch plan cannot depend on them"
                raise self._draft.refuse(why, reads_values=True)
            return self.values(tensor)

        def tolist(tensor: FakeTensor) -> Any:
            with _disable_current_modes():
                return known(tensor, ".tolist()").tolist()

        def numpy(tensor: FakeTensor, **_: Any) -> Any:
            if tensor.device.type != "cpu":
                raise TypeError(
                    "can't convert cuda:0 device type tensor to numpy. Use Tensor.cpu() to copy the tensor to host memory first."
                )
            with _disable_current_modes():
                return known(tensor, ".numpy()").numpy()

        for name, method in (("data_ptr", data_ptr), ("tolist", tolist), ("numpy", numpy)):
            setattr(FakeTensor, name, method)
