"""Says why a judge could not answer a request.

reason = reason_of(error, torch.device("cuda:0"))  # of a `judge_error` (docs/reference/frames.md)
"""

from __future__ import annotations

import torch

from harness.operator import NeedsGpu, NothingToJudge
from harness.wire.device_memory import OUT_OF_MEMORY
from harness.wire.frames import FrameError


class UnknownJob(FrameError):
    """The judge has no inputs of this job or case, for example because it replaced a judge that had
    made them."""


def context_is_lost(device: torch.device) -> bool:
    """Returns True if a kernel has destroyed the CUDA context, for example by an illegal memory
    access. Then all later CUDA calls fail."""
    try:
        if device.type == "cuda":
            torch.cuda.synchronize(device)
    except Exception:
        return True
    return False


def reason_of(error: Exception, device: torch.device) -> str:
    if isinstance(error, UnknownJob):
        return "unknown_job"
    if isinstance(error, NeedsGpu):
        return "needs_gpu"
    if isinstance(error, NothingToJudge):
        return "reference"
    if isinstance(error, OUT_OF_MEMORY):
        return "no_memory"
    return "context_lost" if context_is_lost(device) else "defect"
