"""Records the fills and copies that host code requests from torch. A fill or copy becomes plan
operations if it consists of few pieces. Otherwise it becomes a launch of Assay's copy kernel.

    transfers = Transfers(draft, contents)
    transfers.fill(y, uniform(y.dtype, 0), "aten::zero_")
    transfers.copy(y, x, "aten::copy_")

Not thread-safe."""

from __future__ import annotations

import torch
from torch.utils._python_dispatch import _disable_current_modes

from harness.recording import copy_kernel
from harness.recording import plan as plans
from harness.recording.byte_pieces import matched, runs
from harness.recording.contents import Contents
from harness.recording.draft import Draft
from harness.recording.storage import Record, Uniform


class Transfers:
    """Records fills and copies (see the module's docstring). `operation` is the name that messages
    and notes use."""

    def __init__(self, draft: Draft, contents: Contents) -> None:
        self._draft = draft
        self._contents = contents

    def fill(self, target: torch.Tensor, element: Uniform, operation: str) -> None:
        if target.numel() == 0:
            return
        contents = self._contents
        record = contents.record_of(target)
        if self._draft.in_alternative:
            contents.materialise(record)
        self._before_write(record, target)
        if (
            record.index is None
            and record.content is None
            and not record.stale
            and self._is_whole(record, target)
        ):
            record.content = (
                # No fill is added to the plan yet. It is added when an operation needs the content.
                element
            )
            return
        if element.width > 8:
            raise self._draft.refuse(f"{operation} with elements of {element.width} bytes")
        pieces = runs(target.shape, target.stride(), target.element_size())
        if pieces is None:
            with _disable_current_modes():
                one = element.bytes(element.width).view(target.dtype)
            self._copy_by_kernel(
                target, contents.adopt(one, target.device).expand(target.shape), operation
            )
            return
        index = contents.materialise(record)
        base = int(target.storage_offset()) * target.element_size()
        for offset, size in pieces:
            self._draft.append(
                plans.Fill(
                    index, base + offset, size // element.width, element.width, element.pattern
                )
            )
        self._after_write(record)

    def copy(self, target: torch.Tensor, source: torch.Tensor, operation: str) -> None:
        """Copies `source`, which has the same shape as `target`. If the dtypes differ, the elements
        are converted."""
        if target.numel() == 0:
            return
        contents = self._contents
        from_record, to_record = contents.record_of(source), contents.record_of(target)
        if (
            isinstance(from_record.content, Uniform)
            and from_record.host_known
            and from_record.content.width == source.element_size()
        ):
            self.fill(target, from_record.content.converted(source.dtype, target.dtype), operation)
            return
        to_pieces = runs(target.shape, target.stride(), target.element_size())
        from_pieces = runs(source.shape, source.stride(), source.element_size())
        if self._draft.in_alternative:
            contents.materialise(to_record)
        self._before_write(to_record, target)
        if to_pieces is None or from_pieces is None or source.dtype != target.dtype:
            self._copy_by_kernel(target, source, operation)
            return
        from_index = contents.source(from_record)
        to_index = contents.materialise(to_record)
        to_base, from_base = (int(t.storage_offset()) * t.element_size() for t in (target, source))
        for to_offset, from_offset, size in matched(to_pieces, from_pieces):
            self._draft.append(
                plans.Copy(to_index, to_base + to_offset, from_index, from_base + from_offset, size)
            )
        self._after_write(to_record)

    def _copy_by_kernel(self, target: torch.Tensor, source: torch.Tensor, operation: str) -> None:
        """Records a copy as a launch of Assay's copy kernel, because a few plain memory copies
        cannot do it."""
        if not copy_kernel.can_convert(source.dtype, target.dtype):
            why = f"{operation} converts a device tensor from {source.dtype} to {target.dtype}; convert in your own kernel"
            raise self._draft.refuse(why)
        try:
            kernel = copy_kernel.launch_copy(target, source)
        except ValueError as error:
            raise self._draft.refuse(f"{operation}: {error}") from error
        self._draft.note(f"{operation} is performed by Assay's kernel {kernel}")

    def _before_write(self, record: Record, target: torch.Tensor) -> None:
        if self._is_whole(record, target) and not record.argument:
            record.stale = False
            if record.index is None:
                record.content = (
                    # The fill or copy that follows overwrites the whole storage, so the plan need
                    # not write the old content first.
                    None
                )

    @staticmethod
    def _is_whole(record: Record, target: torch.Tensor) -> bool:
        return target.numel() * target.element_size() == record.nbytes and target.is_contiguous()

    @staticmethod
    def _after_write(record: Record) -> None:
        record.written, record.content = True, None
