"""Evaluates GPU kernels with an Assay server.

    import assay

    with assay.Client("http://127.0.0.1:8080", token="assay_...") as client:
        result = client.evaluate(assay.Evaluation("vector_add", source=source), rewards=["kevin"])
        print(result.outcome, result.rewards["kevin"])

Nothing here needs PyTorch. The clients need httpx (or httpx2), AssayMcp needs mcp, and
results_frame() needs pandas."""

from assay.async_client import AsyncClient
from assay.checks import CheckResult, check
from assay.client import Client
from assay.errors import AssayError, ProblemError
from assay.evaluation import Evaluation, Policy
from assay.frames import results_frame
from assay.protocol import Retry
from assay.results import Problem, Result, Run

__all__ = [
    "AssayError",
    "AsyncClient",
    "CheckResult",
    "Client",
    "Evaluation",
    "Policy",
    "Problem",
    "ProblemError",
    "Result",
    "Retry",
    "Run",
    "check",
    "results_frame",
]
__version__ = "0.1.0"
