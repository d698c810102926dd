"""Describes what a trial of matrix.py judges: a correct and a wrong submission, and the server that
judges them.

subject = ON_CPU
server = subprocess.Popen([subject.binary, "serve", "--stdio", *subject.options])"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent.parent


@dataclass(frozen=True)
class Subject:
    operator: str
    correct: str
    wrong: str
    entry_line: str  # a line of the entry function, which pauses before it
    binary: str
    options: tuple[str, ...]  # of `assay serve`
    failing: tuple[str, ...]  # the roles of the processes whose calls fail
    killed: tuple[str, ...]  # the roles of the processes that are killed

    def code(self, correct: bool, slowed: bool) -> str:
        """Returns a submission. A slowed one pauses in its import and in its entry function, so
        that a process can be killed in these stages."""
        source = self.correct if correct else self.wrong
        if not slowed:
            return source
        paused = source.replace(self.entry_line, f"    time.sleep(0.4)\n{self.entry_line}")
        assert paused != source
        return "import time\n\ntime.sleep(0.4)\n" + paused


_ADD = (ROOT / "operators/standard/vector_add/oracle.py").read_text()
ON_CPU = Subject(
    operator="vector_add",
    correct=_ADD,
    wrong=_ADD.replace("(x + y)", "(x + y + 1)"),
    entry_line="    z = torch.empty_like(x)",
    binary=str(ROOT / "build/release/bin/assay"),
    options=("--device", "cpu"),
    failing=("server", "judge"),
    killed=("zygote", "candidate", "judge"),
)

# A server whose device cuda:0 is a GPU with the fake driver (fake_gpu.cc). It starts launchers, and
# they perform launch plans as on a GPU. The fake driver knows kernels by their names.
_COPY = (HERE / "gpu_suite/standard/plain_copy/oracle.py").read_text()
ON_FAKE_GPU = Subject(
    operator="plain_copy",
    correct=_COPY,
    wrong=_COPY.replace("fake_copy(x, y, n)", "fake_nothing(p)")
    .replace("fake_copy[(1,)](x, y, x.numel())", "fake_nothing[(1,)](y)")
    .replace("empty_like", "zeros_like"),
    entry_line="    y = torch.",
    binary=str(ROOT / "build/release/bin/assay_on_fake_gpu"),
    options=("--device", "cuda:0", "--suite", str(HERE / "gpu_suite")),
    failing=("launcher", "server", "judge"),
    killed=("launcher", "zygote", "candidate", "judge"),
)
