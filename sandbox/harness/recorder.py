"""The state of a recording: storages, the plan under construction, and the operations that change them.

    recorder = Recorder("cuda:90")
    recorder.begin_case()
    x = recorder.argument(descriptor, None)      # a fake tensor on device cuda
    ...                                          # the submission's host code runs; launches and torch operations arrive here
    plan, kernels = recorder.finish([("y", y)])

`launch`, `choosing` and `note` are what Triton's side calls (triton_adapter.Sink); `copy`, `fill` and `adopt` what torch's side
does (dispatch.Classifier). One thread.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch._subclasses.fake_tensor import FakeTensor, FakeTensorMode
from torch.utils._python_dispatch import _disable_current_modes

from harness import copy_kernel
from harness import plan as plans
from harness.errors import NotRecordable
from harness.resources import Resources, read_resources
from harness.storage import MAX_KNOWN_BYTES, Record, Storages, Uniform, same_element
from harness.tensors import name_of, span_bytes
from harness.triton_adapter import Address, Descriptor, KernelImage, Launch, RawParam

_ADDRESS = "a tensor holds the address of a tensor; a launch plan cannot hold addresses. Pass the tensors themselves"
MAX_RUNS = 16  # contiguous pieces as which one fill or copy is done; beyond, a kernel does it


@dataclass
class KernelUse:
    kernel: KernelImage
    grid: tuple[int, int, int]  # of its largest launch
    launches: int


class _Choosing:
    """The alternatives of one choice (triton_adapter.Choosing)."""

    def __init__(self, recorder: Recorder, limit: int) -> None:
        self._recorder = recorder
        self._limit = limit
        self.alternatives: list[plans.Alternative] = []

    @property
    def count(self) -> int:
        return len(self.alternatives)

    @property
    def has_room(self) -> bool:
        """Half of a plan is for alternatives: what the submission launches later must still fit."""
        binaries = self._recorder.plan.binaries
        image_bytes = sum(len(binary.image) for binary in binaries)
        return self.count < self._limit and len(binaries) < plans.MAX_BINARIES // 2 and image_bytes < plans.MAX_PLAN_BYTES // 2

    @contextlib.contextmanager
    def alternative(self, label: str) -> Iterator[None]:
        ops: list[plans.SimpleOp] = []
        with self._recorder.collecting(ops, is_first=not self.alternatives):
            yield
        self.alternatives.append(plans.Alternative(label, ops))


def runs(shape: Sequence[int], strides: Sequence[int], itemsize: int) -> list[tuple[int, int]] | None:
    """A strided view as (offset, size) byte pieces in index order, adjacent ones joined; None when there are over MAX_RUNS."""
    dims = [(extent, stride) for extent, stride in zip(shape, strides, strict=True) if extent != 1]
    size = itemsize
    while dims and dims[-1][1] * itemsize == size:
        size *= dims.pop()[0]
    offsets = [0]
    for extent, stride in dims:
        if len(offsets) * extent > MAX_RUNS:
            return None
        offsets = [offset + i * stride * itemsize for offset in offsets for i in range(extent)]
    return [(offset, size) for offset in offsets]


class Recorder:
    """See the module."""

    def __init__(self, target: str) -> None:
        self.target = target
        self.storages = Storages()
        self.fake_mode = FakeTensorMode(allow_non_fake_inputs=True)
        self.notes: list[str] = []
        self._refusal: NotRecordable | None = None
        self._figures: dict[int, tuple[KernelImage, Resources]] = {}
        self._reset()

    def _reset(self) -> None:
        self.plan = plans.Plan(self.target)
        self._binaries: dict[int, int] = {}
        self._uses: dict[int, KernelUse] = {}
        self._arguments: list[torch.Tensor] = []
        self._questions: dict[tuple[int, object, int], int] = {}  # owner, question and number of alternatives
        self._settled: set[int] = set()  # owners whose answer host code has seen
        self._alternative: list[plans.SimpleOp] | None = None  # where operations go while an alternative is recorded
        self._is_first_alternative = True

    # ---- a case

    def begin_case(self) -> None:
        self._reset()
        self.notes = []
        self._refusal = None
        self.storages.begin_case()

    def argument(
        self, name: str, dtype: torch.dtype, shape: Sequence[int], strides: Sequence[int], values: torch.Tensor | None
    ) -> torch.Tensor:
        """The fake tensor of an argument; `values`, for a structural one, are what host code may read."""
        count = span_bytes(shape, strides, 1)
        with self.fake_mode:
            whole = torch.empty(count, dtype=dtype, device="cuda")
            fake = torch.as_strided(whole, shape, strides)
        content = None
        if values is not None:
            content = torch.as_strided(values, (count,), (1,)).clone().view(torch.uint8) if count else torch.empty(0, dtype=torch.uint8)
        record = self.storages.add(fake, content, argument=name)
        record.index = self.plan.buffer(plans.BufferKind.INPUT, record.nbytes, record.argument)
        self._arguments.append(fake)
        return fake

    def written_arguments(self) -> list[torch.Tensor]:
        """The arguments that the device may have changed so far, each as it was given."""
        return [fake for fake in self._arguments if self.record_of(fake).written]

    def finish(self, outputs: list[torch.Tensor]) -> tuple[bytes, list[dict[str, Any]]]:
        """The encoded plan with these outputs, and the report of each kernel."""
        if self._refusal is not None:
            raise self._refusal
        for tensor in outputs:
            record = self._materialise(self.record_of(tensor))
            offset = int(tensor.storage_offset()) * tensor.element_size()
            shape, strides = [int(x) for x in tensor.shape], [int(x) for x in tensor.stride()]
            self.plan.outputs.append(plans.Output(record, offset, name_of(tensor.dtype), shape, strides))
        try:
            return self.plan.encode(), [self._report(use) for use in self._uses.values()]
        except plans.PlanTooLarge as error:
            raise NotRecordable(str(error)) from error

    def _report(self, use: KernelUse) -> dict[str, Any]:
        kernel = use.kernel
        if id(kernel) not in self._figures:
            self._figures[id(kernel)] = (kernel, read_resources(self.target, kernel.image, kernel.text("amdgcn")))
        figures = self._figures[id(kernel)][1]
        return {
            "name": kernel.name,
            "target": self.target,
            "num_warps": kernel.num_warps,
            "num_stages": kernel.num_stages,
            "registers": figures.registers,
            "spill_bytes": figures.spill_bytes,
            "shared_bytes": kernel.shared_bytes,
            "binary_bytes": len(kernel.image),
            "grid": list(use.grid),
            "launches": use.launches,
        }

    def kernels(self) -> list[KernelImage]:
        """The kernels of the current case, in the order of their first launch."""
        return [use.kernel for use in self._uses.values()]

    # ---- what Triton's side calls

    def note(self, text: str) -> None:
        if text not in self.notes:
            self.notes.append(text)

    @contextlib.contextmanager
    def choosing(self, owner: int, question: object) -> Iterator[_Choosing]:
        """A piece of work that can be done in several ways."""
        chosen = _Choosing(self, 1 if owner in self._settled else plans.MAX_ALTERNATIVES)
        yield chosen
        if chosen.count > 1:
            number = self._questions.setdefault((owner, question, chosen.count), len(self._questions))
            self.plan.ops.append(plans.Choice(number, chosen.alternatives))
        elif chosen.alternatives:
            self.plan.ops.extend(chosen.alternatives[0].ops)

    def settle(self, owner: int) -> None:
        """Host code wants to know what was chosen: from now on, and so far, it is the first alternative."""
        self._settled.add(owner)
        numbers = {number for (asker, *_), number in self._questions.items() if asker == owner}
        for op in self.plan.ops:
            if isinstance(op, plans.Choice) and op.question in numbers:
                del op.alternatives[1:]

    @contextlib.contextmanager
    def collecting(self, into: list[plans.SimpleOp], is_first: bool) -> Iterator[None]:
        """Operations go into a list of their own; what prepares buffers still goes before them all."""
        before = self._alternative, self._is_first_alternative
        self._alternative, self._is_first_alternative = into, is_first
        try:
            yield
        finally:
            self._alternative, self._is_first_alternative = before

    def launch(self, launch: Launch) -> None:
        touched: list[Record] = []
        params = [self._param(param, touched) for param in launch.params]
        kernel = launch.kernel
        if id(kernel) not in self._binaries:
            self.plan.binaries.append(plans.Binary(kernel.name, kernel.shared_bytes, kernel.image))
            self._binaries[id(kernel)] = len(self.plan.binaries) - 1
        if self._is_first_alternative:
            use = self._uses.setdefault(id(kernel), KernelUse(kernel, launch.grid, 0))
            use.launches += 1
            use.grid = max(use.grid, launch.grid, key=lambda grid: grid[0] * grid[1] * grid[2])
        self._append(plans.Kernel(self._binaries[id(kernel)], launch.grid, launch.block, launch.cluster, launch.flags, params))
        for record in touched:
            record.written = True
            if not record.argument:
                record.content = None  # the kernel may have changed it

    def _param(self, param: RawParam, touched: list[Record]) -> plans.Param:
        if isinstance(param, Address):
            return self._resolve(param, touched)
        if not isinstance(param, Descriptor):
            return self._no_address(param)
        pointer = self._resolve(param.base, touched)
        shape, strides, box = list(param.shape), list(param.strides), list(param.box)
        return plans.TensorMap(pointer.buffer, pointer.offset, param.type, param.swizzle, param.nan_outside, shape, strides, box)

    def _resolve(self, address: Address, touched: list[Record]) -> plans.Pointer:
        record = self.storages.at(address.value)
        if record is None:
            raise self.refuse(f"kernel argument {address.position} is an address that belongs to no tensor of this call")
        if record.device == "cpu":
            raise ValueError(f"Pointer argument (at {address.position}) cannot be accessed from Triton (cpu tensor?)")
        index = self._materialise(record)
        touched.append(record)
        return plans.Pointer(index, address.value - record.address)

    def _no_address(self, param: plans.Param) -> plans.Param:
        if isinstance(param, plans.Scalar) and param.size == 8 and self.storages.is_address(param.value):
            raise self.refuse("the address of a tensor is passed as a number; pass the tensor itself")
        return param

    # ---- what torch's side calls

    def refuse(self, why: str, reads_values: bool = False) -> NotRecordable:
        """An exception that says why this cannot be a plan. Kept, so that host code cannot swallow it."""
        error = NotRecordable(why, reads_values)
        self._refusal = self._refusal or error
        return error

    def record_of(self, tensor: torch.Tensor) -> Record:
        record = self.storages.find(tensor)
        return record if record is not None else self.storages.add(tensor, None)

    def values(self, tensor: torch.Tensor) -> torch.Tensor:
        """A view of the known content with the tensor's layout; writing to it changes the content."""
        record = self.record_of(tensor)
        with _disable_current_modes():
            flat = record.known_bytes()
            view = torch.empty(0, dtype=tensor.dtype)
            offset = flat.storage_offset() // tensor.element_size() + int(tensor.storage_offset())
            return view.set_(flat.untyped_storage(), offset, tuple(tensor.shape), tuple(tensor.stride()))  # type: ignore[call-overload, no-any-return]

    def adopt(self, real: torch.Tensor, device: torch.device | None = None) -> torch.Tensor:
        """A fake tensor whose values are known to be those of a real CPU tensor."""
        if real.untyped_storage().nbytes() > MAX_KNOWN_BYTES:
            raise self.refuse(f"a constant of {real.untyped_storage().nbytes()} bytes is over the limit of {MAX_KNOWN_BYTES}")
        with _disable_current_modes():
            dense = real.detach().cpu().clone(memory_format=torch.preserve_format)
            content = torch.empty(0, dtype=torch.uint8).set_(dense.untyped_storage())  # type: ignore[call-overload]
            shape, strides = tuple(dense.shape), tuple(dense.stride())
        with self.fake_mode:
            fake = torch.empty_strided(shape, strides, dtype=dense.dtype, device=device or real.device)
        self.storages.add(fake, content)
        return fake

    def fill(self, target: torch.Tensor, element: Uniform, operation: str) -> None:
        if target.numel() == 0:
            return
        record = self.record_of(target)
        if self._alternative is not None:
            self._materialise(record)
        self._before_write(record, target)
        if record.index is None and record.content is None and not record.stale and self._is_whole(record, target):
            record.content = element  # nobody has seen it yet: it enters the plan when somebody does
            return
        if element.width > 8:
            raise self.refuse(f"{operation} with elements of {element.width} bytes")
        pieces = runs(target.shape, target.stride(), target.element_size())
        if pieces is None:
            with _disable_current_modes():
                one = element.bytes(element.width).view(target.dtype)
            self._copy_by_kernel(target, self.adopt(one, target.device).expand(target.shape), operation)
            return
        index = self._materialise(record)
        base = int(target.storage_offset()) * target.element_size()
        for offset, size in pieces:
            self._append(plans.Fill(index, base + offset, size // element.width, element.width, element.pattern))
        self._after_write(record)

    def copy(self, target: torch.Tensor, source: torch.Tensor, operation: str) -> None:
        """`source` has the target's shape; its elements are converted where the types differ."""
        if target.numel() == 0:
            return
        from_record, to_record = self.record_of(source), self.record_of(target)
        if isinstance(from_record.content, Uniform) and from_record.host_known and from_record.content.width == source.element_size():
            self.fill(target, from_record.content.converted(source.dtype, target.dtype), operation)
            return
        to_pieces = runs(target.shape, target.stride(), target.element_size())
        from_pieces = runs(source.shape, source.stride(), source.element_size())
        if self._alternative is not None:
            self._materialise(to_record)
        self._before_write(to_record, target)
        if to_pieces is None or from_pieces is None or source.dtype != target.dtype:
            self._copy_by_kernel(target, source, operation)
            return
        from_index = self._source(from_record)
        to_index = self._materialise(to_record)
        to_base, from_base = (int(t.storage_offset()) * t.element_size() for t in (target, source))
        for to_offset, from_offset, size in _matched(to_pieces, from_pieces):
            self._append(plans.Copy(to_index, to_base + to_offset, from_index, from_base + from_offset, size))
        self._after_write(to_record)

    def _copy_by_kernel(self, target: torch.Tensor, source: torch.Tensor, operation: str) -> None:
        """Device work that no fill or memcpy does: a launch of a kernel of ours."""
        if not copy_kernel.can_convert(source.dtype, target.dtype):
            raise self.refuse(f"{operation} converts a device tensor from {source.dtype} to {target.dtype}; convert in a kernel of yours")
        try:
            copy_kernel.launch_copy(target, source)
        except ValueError as error:
            raise self.refuse(f"{operation}: {error}") from error
        self.note(f"{operation} is performed by a kernel of Assay's, {copy_kernel.assay_copy.__name__}")

    # ---- inside

    def _append(self, op: plans.SimpleOp) -> None:
        into: list[Any] = self.plan.ops if self._alternative is None else self._alternative
        if len(into) >= plans.MAX_OPERATIONS:
            raise self.refuse(f"more than {plans.MAX_OPERATIONS} launches, fills and copies")
        into.append(op)

    def _before_write(self, record: Record, target: torch.Tensor) -> None:
        if self._is_whole(record, target) and not record.argument:
            record.stale = False
            if record.index is None:
                record.content = None  # about to be overwritten: no need to write the old content first

    @staticmethod
    def _is_whole(record: Record, target: torch.Tensor) -> bool:
        return target.numel() * target.element_size() == record.nbytes and target.is_contiguous()

    def _after_write(self, record: Record) -> None:
        record.written, record.content = True, None

    def _source(self, record: Record) -> int:
        """The buffer to copy from; known content becomes a constant, which nothing ever writes."""
        if record.host_known:
            if self.storages.holds_address(record.known_bytes()):
                raise self.refuse(_ADDRESS)
            return self._constant(record.nbytes, record.known_bytes())
        return self._materialise(record)

    def _constant(self, nbytes: int, content: torch.Tensor) -> int:
        with _disable_current_modes():  # numpy() on a real tensor goes through dispatch, and would be made fake
            data = content.numpy().tobytes()
        return self.plan.buffer(plans.BufferKind.CONSTANT, nbytes, constant=data)

    def _materialise(self, record: Record) -> int:
        """The record's buffer in the plan; at its first use there, known content is written to it."""
        if record.stale:
            raise self.refuse(
                "a tensor that an earlier call of the entry function filled is used again; state between calls cannot be recorded"
            )
        if record.index is not None:
            return record.index
        index = record.index = self.plan.buffer(plans.BufferKind.SCRATCH, record.nbytes)
        content = record.content
        if isinstance(content, torch.Tensor) and record.nbytes:
            if self.storages.holds_address(content):
                raise self.refuse(_ADDRESS)
            content = same_element(content) or content
        # Not with _append: an alternative that is not taken must leave its buffers as the others expect them.
        if isinstance(content, Uniform) and record.nbytes:
            self.plan.ops.append(plans.Fill(index, 0, record.nbytes // content.width, content.width, content.pattern))
        elif isinstance(content, torch.Tensor) and record.nbytes:
            constant = self._constant(record.nbytes, content)
            self.plan.ops.append(plans.Copy(index, 0, constant, 0, record.nbytes))
        return index

    def patch_fake_tensor(self) -> None:
        """Lets fake tensors answer for their address and, where they are known, their values."""

        def data_ptr(tensor: FakeTensor) -> int:
            record = self.record_of(tensor)
            return record.address + int(tensor.storage_offset()) * tensor.element_size() if record.nbytes else 0

        def known(tensor: FakeTensor, how: str) -> torch.Tensor:
            record = self.record_of(tensor)
            if record.content is None or record.stale:
                raise self.refuse(f"{how} reads the values of a device tensor on the host; a launch plan cannot depend on them", True)
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


def _matched(to_pieces: list[tuple[int, int]], from_pieces: list[tuple[int, int]]) -> Iterator[tuple[int, int, int]]:
    """Walks two piece lists of equal total size together: (to offset, from offset, size)."""
    i = j = to_done = from_done = 0
    while i < len(to_pieces) and j < len(from_pieces):
        size = min(to_pieces[i][1] - to_done, from_pieces[j][1] - from_done)
        yield to_pieces[i][0] + to_done, from_pieces[j][0] + from_done, size
        to_done, from_done = to_done + size, from_done + size
        if to_done == to_pieces[i][1]:
            i, to_done = i + 1, 0
        if from_done == from_pieces[j][1]:
            j, from_done = j + 1, 0
