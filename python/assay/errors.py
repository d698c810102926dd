"""The exceptions of this package."""

from __future__ import annotations

from assay.results import Problem


class AssayError(Exception):
    """The server cannot be reached, or its answer is no answer of Assay."""


class ProblemError(AssayError):
    """The server refused a request. `problem.type` says why."""

    def __init__(self, problem: Problem) -> None:
        super().__init__(f"{problem.title} {problem.detail}".strip())
        self.problem = problem
