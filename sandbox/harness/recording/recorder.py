"""Records one case: turns the operations of host code on fake tensors into a launch plan.

    recorder = Recorder("cuda:90")
    recorder.begin_case()
    x = recorder.argument("x", torch.float32, (8,), (1,), None)  # a fake tensor on device cuda
    y = submission(x)  # its launches and torch operations reach the recorder
    plan, kernels = recorder.finish([y])

This module connects draft.py (the plan under construction), contents.py (the contents of tensors)
and transfers.py (fills and copies). The Triton adapter calls `launch`, `choosing`, `settle`,
`leave_out` and `note` (see launches.Sink). The classifier of torch operations (dispatch.py) calls
`copy`, `fill`, `adopt` and similar methods. Not thread-safe."""

from __future__ import annotations

import contextlib
from collections.abc import Sequence
from typing import Any

import torch

from harness.recording import plan as plans
from harness.recording.contents import Contents
from harness.recording.draft import Draft
from harness.recording.kernel_uses import KernelUses
from harness.recording.launches import Address, Descriptor, Launch, RawParam
from harness.recording.storage import Record
from harness.recording.transfers import Transfers
from harness.wire.tensors import name_of, span_bytes


class Recorder:
    """Records one case after the other (see the module's docstring)."""

    def __init__(self, target: str) -> None:
        self.target = target
        self._draft = Draft(target)
        self._contents = Contents(self._draft)
        self._transfers = Transfers(self._draft, self._contents)
        self._uses = KernelUses(target)
        self._arguments: list[torch.Tensor] = []
        self.storages, self.fake_mode = self._contents.storages, self._contents.fake_mode
        # The Triton adapter and the classifier call these functions as methods of the recorder.
        self.note, self.refuse = self._draft.note, self._draft.refuse
        self.leave_out = self._draft.leave_out
        self.choosing, self.settle, self.collecting = (
            self._draft.choosing,
            self._draft.settle,
            self._draft.collecting,
        )
        self.record_of, self.values, self.adopt = (
            self._contents.record_of,
            self._contents.values,
            self._contents.adopt,
        )
        self.patch_fake_tensor = self._contents.patch_fake_tensor
        self.fill, self.copy = self._transfers.fill, self._transfers.copy
        self.kernels = self._uses.kernels

    @property
    def plan(self) -> plans.Plan:
        return self._draft.plan

    @property
    def notes(self) -> list[str]:
        return self._draft.notes

    @property
    def left_out(self) -> int:
        return self._draft.left_out

    # The methods below begin and end a case.

    def begin_case(self) -> None:
        self._draft.begin()
        self._uses.begin()
        self._arguments = []
        self.storages.begin_case()

    def argument(
        self,
        name: str,
        dtype: torch.dtype,
        shape: Sequence[int],
        strides: Sequence[int],
        values: torch.Tensor | None,
    ) -> torch.Tensor:
        """Returns the fake tensor for an argument. For a structural argument, `values` contains the
        values that host code may read."""
        count = span_bytes(shape, strides, 1)
        with self.fake_mode:
            whole = torch.empty(count, dtype=dtype, device="cuda")
            fake = torch.as_strided(whole, shape, strides)
        content = None
        if values is not None:
            content = (
                torch.as_strided(values, (count,), (1,)).clone().view(torch.uint8)
                if count
                else torch.empty(0, dtype=torch.uint8)
            )
        record = self.storages.add(fake, content, argument=name)
        record.index = self.plan.buffer(plans.BufferKind.INPUT, record.nbytes, record.argument)
        self._arguments.append(fake)
        return fake

    def written_arguments(self) -> list[torch.Tensor]:
        """Returns the arguments that the device may have changed so far. The tensors are those that
        argument() returned."""
        return [fake for fake in self._arguments if self.record_of(fake).written]

    def deciding(self) -> contextlib.AbstractContextManager[None]:
        """Returns a context manager in whose block the entry runs. If something was refused, the
        end of the block raises the refusal, even if the entry raises another error later."""
        return self._draft.deciding()

    def finish(self, outputs: list[torch.Tensor]) -> tuple[bytes, list[dict[str, Any]]]:
        """Returns the encoded plan with these outputs, and a report for each kernel."""
        self._draft.check()
        for tensor in outputs:
            index = self._contents.materialise(self.record_of(tensor))
            offset = int(tensor.storage_offset()) * tensor.element_size()
            shape, strides = [int(x) for x in tensor.shape], [int(x) for x in tensor.stride()]
            self.plan.outputs.append(
                plans.Output(index, offset, name_of(tensor.dtype), shape, strides)
            )
        return self._draft.encode(), self._uses.reports()

    # The methods below record a launch.

    def launch(self, launch: Launch) -> None:
        touched: list[Record] = []
        params = [self._param(param, touched) for param in launch.params]
        binary = self._uses.binary(self.plan, launch.kernel)
        if self._draft.is_first_alternative:
            self._uses.count(launch.kernel, launch.grid)
        self._draft.append(
            plans.Kernel(binary, launch.grid, launch.block, launch.cluster, launch.flags, params)
        )
        for record in touched:
            record.written = True
            if not record.argument:
                record.content = None  # the kernel may have changed the content

    def _param(self, param: RawParam, touched: list[Record]) -> plans.Param:
        if isinstance(param, Address):
            return self._resolve(param, touched)
        if not isinstance(param, Descriptor):
            return self._no_address(param)
        pointer = self._resolve(param.base, touched)
        shape, strides, box = list(param.shape), list(param.strides), list(param.box)
        return plans.TensorMap(
            pointer.buffer,
            pointer.offset,
            param.type,
            param.swizzle,
            param.nan_outside,
            shape,
            strides,
            box,
        )

    def _resolve(self, address: Address, touched: list[Record]) -> plans.Pointer:
        record = self.storages.at(address.value)
        if record is None:
            raise self.refuse(
                f"kernel argument {address.position} is an address that belongs to no tensor of this call"
            )
        if record.device == "cpu":
            raise ValueError(
                f"Pointer argument (at {address.position}) cannot be accessed from Triton (cpu tensor?)"
            )
        index = self._contents.materialise(record)
        touched.append(record)
        return plans.Pointer(index, address.value - record.address)

    def _no_address(self, param: plans.Param) -> plans.Param:
        if (
            isinstance(param, plans.Scalar)
            and param.size == 8
            and self.storages.is_address(param.value)
        ):
            raise self.refuse(
                "the address of a tensor is passed as a number; pass the tensor itself"
            )
        return param
