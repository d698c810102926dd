"""Makes one submission for each of TritonBench's error types (arXiv 2502.14752, appendix C, which
announces sixteen types and lists seventeen).

Python, torch and Triton raise the errors; no submission contains `raise`. One graded run contains
one submission for each type, and the report must count each type once."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from stdio_client import StdioClient

Run = Callable[..., subprocess.CompletedProcess[str]]

KERNEL = """import torch, triton, triton.language as tl
@triton.jit
def kernel(x, y, n, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    tl.store(y + i, LOAD, mask=i < n)
def ENTRY(x, *rest):
    y = torch.empty_like(x)
    kernel[(1,)](x, y, x.numel(), BLOCK=16)
    return y
"""


def entry(body: str, head: str = "import torch, triton") -> str:
    return f"{head}\ndef ENTRY(x, *rest):\n    {body}\n"


# Maps each type to (group, stage, source). Each source is submitted for a different operator. In
# the source, the word ENTRY stands for the operator's name.
TYPES: dict[str, tuple[str, str, str]] = {
    "SyntaxError": ("Syntax", "import", "def ENTRY(x, y)\n    return x\n"),
    "IndentationError": ("Syntax", "import", "def ENTRY(x, y):\nreturn x\n"),
    "AttributeError": ("Attribute & Type", "run", entry("return torch.no_such_function(x)")),
    "TypeError": ("Attribute & Type", "run", "def ENTRY():\n    return None\n"),
    "NotImplementedError": ("Attribute & Type", "run", entry("return torch.nn.Module()(x)")),
    "NameError": ("Name & Reference", "run", entry("return no_such_name")),
    "KeyError": ("Name & Reference", "run", entry("return {}['BLOCK']")),
    "IndexError": ("Name & Reference", "run", entry("return x.shape[9]")),
    "ModuleNotFoundError": (
        "Name & Reference",
        "import",
        entry("return x", "import no_such_module_of_mine"),
    ),
    "ImportError": (
        "Name & Reference",
        "import",
        entry("return x", "from torch import no_such_name_of_torch"),
    ),
    "ValueError": ("Runtime & Logic", "run", entry("return int('x')")),
    "ZeroDivisionError": ("Runtime & Logic", "run", entry("return triton.cdiv(x.numel(), 0)")),
    "RuntimeError": ("Runtime & Logic", "run", entry("return x.view(2, 3, 5, 7, 11, 13, 17)")),
    "RecursionError": ("Runtime & Logic", "run", entry("return ENTRY(x)")),
    "AssertionError": ("Runtime & Logic", "run", entry("assert x.numel() < 0")),
    "CompilationError": (
        "Runtime & Logic",
        "compile",
        KERNEL.replace("LOAD", "tl.no_such_function(x + i)"),
    ),
    "ResultsError": ("Runtime & Logic", "done", entry("return torch.full_like(x, 12345.0)")),
}
OPERATORS = (
    *(
        "gelu_tanh",
        "relu",
        "vector_add",
        "silu",
        "mish",
        "hardswish",
        "leaky_relu",
        "gelu_exact",
        "dynamic_tanh",
        "erf_unary",
    ),
    *(
        "softmax_last_dim",
        "log_softmax",
        "sum_last_dim",
        "mean_dim0",
        "softplus_beta",
        "pow_tensor_scalar",
        "clamp_minmax",
    ),
)
# Subclasses of the types above, and errors that are not on TritonBench's list. Maps the name
# of each to (the type under which the report counts it, a source).
OTHERS = {
    "UnboundLocalError": ("NameError", entry("y = z + x; z = y; return z")),
    "TabError": ("IndentationError", "def ENTRY(x):\n        y = x\n\treturn y\n"),
    "JSONDecodeError": ("ValueError", entry("return json.loads('x')", "import json")),
    "UnicodeDecodeError": ("ValueError", entry("return b'\\xff'.decode()")),
    "FileNotFoundError": ("RuntimeError", entry("return open('/no/such/file')")),
    "StopIteration": ("RuntimeError", entry("return next(iter(()))")),
    "OverflowError": ("RuntimeError", entry("return 2.0 ** 5000")),
    "no entry": ("NameError", "def other(x):\n    return x\n"),
}


def finished(client: StdioClient, tool: str, **arguments: Any) -> dict[str, Any]:
    answer: dict[str, Any] = client.call(tool, arguments)["structuredContent"]
    while answer.get("status") == "running":
        answer = client.call("job", {"job": answer["job"], "wait_s": 20})["structuredContent"]
    return answer


@pytest.fixture(scope="module")
def graded(cpu_server: StdioClient) -> tuple[str, dict[str, dict[str, Any]]]:
    """Makes a graded run with one submission for each type. Returns the run and the verdicts by
    type."""
    request = {"agent": "mine", "model": "m", "track": "one_shot", "suite": ",".join(OPERATORS)}
    run = cpu_server.call("start_run", request)["structuredContent"]["run"]
    verdicts = {}
    for operator, (name, (_, _, source)) in zip(OPERATORS, TYPES.items(), strict=True):
        verdicts[name] = finished(
            cpu_server, "submit", run=run, operator=operator, code=source.replace("ENTRY", operator)
        )
    return run, verdicts


@pytest.mark.parametrize("name", TYPES)
def test_a_submission_gets_its_type(
    graded: tuple[str, dict[str, dict[str, Any]]], name: str
) -> None:
    group, stage, _ = TYPES[name]
    verdict = graded[1][name]
    said = json.dumps(verdict, indent=1)[:3000]
    assert (verdict["error_type"], verdict["error_group"], verdict["stage"]) == (
        name,
        group,
        stage,
    ), said


def test_the_report_counts_each_once(
    assay: Run, cpu_store: Path, graded: tuple[str, dict[str, dict[str, Any]]]
) -> None:
    done = assay("report", "--store", str(cpu_store), "--run", graded[0], "--format", "json")
    groups = json.loads(done.stdout)["metrics"]["error_groups"]
    counted = {name: count for group in groups.values() for name, count in group["types"].items()}
    assert counted == dict.fromkeys(TYPES, 1)
    sizes = {"Syntax": 2, "Attribute & Type": 3, "Name & Reference": 5, "Runtime & Logic": 7}
    assert {name: group["total"] for name, group in groups.items()} == sizes


@pytest.mark.parametrize("name", OTHERS)
def test_other_errors_get_their_nearest_type(cpu_server: StdioClient, name: str) -> None:
    wanted, source = OTHERS[name]
    verdict = finished(
        cpu_server, "run_tests", operator="relu", code=source.replace("ENTRY", "relu")
    )
    assert verdict["error_type"] == wanted, json.dumps(verdict, indent=1)[:3000]
    exception = verdict.get("diagnostic", {}).get("exception", "MissingEntry")
    assert exception.split(".")[-1] == name.replace("no entry", "MissingEntry"), exception


@pytest.mark.parametrize(
    "load", ["tl.load(x + tl.arange(0, 3))", "tl.dot(x, y)", "tl.load(n)", "[1, 2].sort()"]
)
def test_the_compiler_refuses(cpu_server: StdioClient, load: str) -> None:
    verdict = finished(
        cpu_server,
        "compile",
        operator="relu",
        code=KERNEL.replace("LOAD", load).replace("ENTRY", "relu"),
    )
    assert (verdict["error_type"], verdict["stage"]) == ("CompilationError", "compile"), json.dumps(
        verdict, indent=1
    )[:3000]
    assert verdict["diagnostic"]["line"] == 5
