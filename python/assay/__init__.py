"""Evaluates GPU kernels with an Assay server.

    import assay

    with assay.Client("http://127.0.0.1:8080", token="assay_...") as client:
        result = client.evaluate(assay.Evaluation("vector_add", source=source), rewards=["kevin"])
        print(result.outcome, result.rewards["kevin"])

Nothing here needs PyTorch. The clients need httpx (or httpx2), AssayMcp needs mcp, results_frame()
needs pandas, and the tables of a dataset as Parquet need pyarrow. Each part is imported when it is
first used, because the program `assay` of a wheel starts through this package and needs none of
them."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from assay.async_client import AsyncClient
    from assay.checks import CheckResult, check
    from assay.client import Client
    from assay.datasets import Dataset, DatasetError, read_dataset
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
    "Dataset",
    "DatasetError",
    "Evaluation",
    "Policy",
    "Problem",
    "ProblemError",
    "Result",
    "Retry",
    "Run",
    "check",
    "read_dataset",
    "results_frame",
]
__version__ = "0.1.0"

# The module of each name.
_HOMES = {
    "AssayError": "errors",
    "AsyncClient": "async_client",
    "CheckResult": "checks",
    "Client": "client",
    "Dataset": "datasets",
    "DatasetError": "datasets",
    "Evaluation": "evaluation",
    "Policy": "evaluation",
    "Problem": "results",
    "ProblemError": "errors",
    "Result": "results",
    "Retry": "protocol",
    "Run": "results",
    "check": "checks",
    "read_dataset": "datasets",
    "results_frame": "frames",
}


def __getattr__(name: str) -> Any:
    """Imports a name when it is first used."""
    home = _HOMES.get(name)
    if home is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(importlib.import_module(f"{__name__}.{home}"), name)
    globals()[name] = value
    return value
