"""Tests that torch._dynamo stays unloaded until something needs it, and works from then on."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

SANDBOX = Path(__file__).resolve().parents[4] / "sandbox"
BEFORE = """
import sys
sys.path.insert(0, SANDBOX)
import torch
from harness.entry import late_dynamo
"""
INSTALL = "late_dynamo.install()\n"
# Operations that recordings use. They need only the configuration of torch._dynamo.
RECORDING = """
from torch._subclasses.fake_tensor import FakeTensorMode
with FakeTensorMode():
    x = torch.empty(3)
    y = torch.nn.functional.softmax(x @ torch.empty(3, 3), 0) + x.sum()
    torch.nn.Linear(3, 3)(y).view(3, 1).expand(3, 4).contiguous().half()
"""
COMPILED = (
    "assert torch.compile(lambda a: a * 2, backend='eager')(torch.ones(2)).tolist() == [2, 2]"
)


# Runs each line of the input, a JSON text of code, in a forked process of its own. So torch is
# imported once for all tests, also for those that change it before the installation.
FORKING = """
import json, os, traceback
for line in sys.stdin:
    if (child := os.fork()) == 0:
        try:
            exec(json.loads(line), {"__name__": "__main__", **globals()})
            answer = "loaded" if late_dynamo.is_loaded() else "unloaded"
        except BaseException:
            answer = traceback.format_exc()
        print(json.dumps(answer), flush=True)
        os._exit(0)
    os.waitpid(child, 0)
"""


class Forks:
    """A process that has imported torch, and runs code in forked processes."""

    def __init__(self) -> None:
        code = BEFORE.replace("SANDBOX", repr(str(SANDBOX))) + FORKING
        pipe = subprocess.PIPE
        self._process = subprocess.Popen(
            [sys.executable, "-I", "-c", code], stdin=pipe, stdout=pipe, text=True
        )

    def run(self, code: str, install: str = INSTALL) -> str:
        """Runs `install` and code in a new process. Returns `loaded`, `unloaded` or the error."""
        assert self._process.stdin and self._process.stdout
        self._process.stdin.write(json.dumps(install + code) + "\n")
        self._process.stdin.flush()
        answer: str = json.loads(self._process.stdout.readline())
        return answer

    def close(self) -> None:
        self._process.communicate()


@pytest.fixture(scope="module")
def forks() -> Iterator[Forks]:
    started = Forks()
    yield started
    started.close()


@pytest.mark.parametrize(
    "code",
    [
        RECORDING,
        "torch._dynamo.config.suppress_errors = True",
        "torch.vmap(lambda x: x * 2)(torch.ones(2, 2))",
    ],
)
def test_common_code_leaves_it_unloaded(forks: Forks, code: str) -> None:
    assert forks.run(code) == "unloaded"


@pytest.mark.parametrize(
    "code",
    [
        RECORDING + COMPILED,
        "import torch._dynamo.eval_frame as frames; frames.set_eval_frame\n" + COMPILED,
        "import torch._inductor.utils\n" + COMPILED,
        "import torch._inductor.config\ntorch._inductor.config.compile_threads\n" + COMPILED,
        "from torch._inductor import config\nassert config is torch._inductor.config\n" + COMPILED,
        "f = torch._dynamo.disable(lambda a: a + 1); assert f(1) == 2",
    ],
)
def test_what_needs_it_loads_it_and_it_works(forks: Forks, code: str) -> None:
    assert forks.run(code) == "loaded"


@pytest.mark.parametrize("name", ["torch._inductor", "torch._inductor.config", "torch._dynamo"])
def test_no_module_is_executed_twice(forks: Forks, name: str) -> None:
    code = (
        f"import importlib\nmodule = importlib.import_module({name!r})\n"
        "import torch._inductor.config, torch._dynamo.eval_frame\n"
        f"assert module is sys.modules[{name!r}] is {name}\n"
        f"assert module.__spec__.loader is module.__loader__, module.__spec__\n"
        "from torch._dynamo import utils\nassert utils.config is torch._dynamo.config\n"
    )
    assert forks.run(code) == "loaded"


def test_functions_that_torch_marked_before_are_marked_anew(forks: Forks) -> None:
    code = RECORDING + (
        "marked = list(late_dynamo._unmarked)\n"
        "assert marked and all(late_dynamo.KEPT in f.__dict__ for f in marked)\n"
        "import torch._dynamo.eval_frame\n"
        "assert not any(late_dynamo.KEPT in f.__dict__ for f in marked)\n" + COMPILED
    )
    assert forks.run(code) == "loaded"


KERNEL = """
import triton, triton.language as tl
@triton.jit
def double(x, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(x + i, 2 * tl.load(x + i, mask=i < n), mask=i < n)
"""
COMPILING = """
import own_kernel, triton
from triton.backends.compiler import GPUTarget
constants, types = {(2,): 128}, {"x": "*fp32", "n": "i32", "BLOCK": "constexpr"}
source = triton.compiler.ASTSource(own_kernel.double, types, constants)
assert triton.compile(source, target=GPUTarget("cuda", 90, 32)).asm["cubin"]
"""


def test_a_recording_imports_nothing_that_the_zygote_has_not_imported(
    forks: Forks, tmp_path: Path
) -> None:
    """Each module that a candidate imports costs processor time in every job."""
    (tmp_path / "own_kernel.py").write_text(KERNEL)
    code = (
        "import importlib\nfrom harness.candidate import zygote\nfrom harness import triton_adapter\n"
        "triton_adapter.warm()\n"
        "[step() for step in zygote.PREPARED_WHEN_IDLE]\n"
        f"sys.path.append({str(tmp_path)!r})\n"
        f"triton.knobs.cache.dir = {str(tmp_path / 'cache')!r}\n"
        "before = set(sys.modules)\n"
        f"{RECORDING}{COMPILING}late = sorted(set(sys.modules) - before - {{'own_kernel'}})\n"
        "assert not late, late\n"
    )
    assert forks.run("import triton\n" + code) == "unloaded"


def test_a_judge_describes_and_makes_cases_without_it(forks: Forks) -> None:
    code = (
        "import socket\nfrom harness.judging.judge import Judge\n"
        "from harness.wire.frames import Channel, Frame\n"
        f"folder = {str(SANDBOX.parent / 'operators/standard/vector_add')!r}\n"
        "axes = {'n': 4112}\n"
        "case = {'id': 'small', 'axes': axes, 'dtype': 'float32', 'distribution': 'normal'}\n"
        "asked = {'job': 'j', 'operator_dir': folder, 'cases': [case]}\n"
        "judge = Judge('cpu')\n"
        "ours, theirs = socket.socketpair()\n"
        "channel = Channel(theirs)\n"
        "wanted = Frame({'type': 'describe', 'without_inputs': True, **asked})\n"
        "told = judge._describe(channel, wanted)\n"
        "assert len(told[0]['cases']) == 1\n"
        "made = judge._prepare(channel, Frame({'type': 'prepare', **asked}))\n"
        "assert len(made[0]['cases']) == 1\n"
    )
    assert forks.run(code) == "unloaded"


@pytest.mark.parametrize("or_load", [True, False])
def test_an_older_torch_loads_it_at_once_or_not_at_all(forks: Forks, or_load: bool) -> None:
    older = f"torch.__version__ = '2.10.0+cu130'\nlate_dynamo.install(or_load={or_load})\n"
    tell = f"assert (late_dynamo.NAME in sys.modules) is {or_load}"
    assert forks.run(tell, older) == ("loaded" if or_load else "unloaded")
