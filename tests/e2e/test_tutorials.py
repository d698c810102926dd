"""Runs every command of the tutorials in docs/tutorial, and looks at what they say. (The bench has a
test of its own, tests/e2e/bench/test_first_bench.py.)

A comment above a block says what to do with it: `<!-- file: PATH -->` writes it, `<!-- status: N -->`
is the exit status of its commands, and `<!-- edit: PATH: OLD -> NEW -->` changes a file before its
commands run. `<!-- break: OLD -> NEW -->` says which change of reference.py gives these lines."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from llm_endpoint import Endpoint
from test_readme import PRINTED_URL, ROOT, commands, oracle, shell

TUTORIALS = ROOT / "docs/tutorial"
BLOCK = re.compile(
    r"(?:<!-- (?P<key>file|status|edit|break): (?P<value>.+?) -->\n)?```(?P<kind>\w*)\n(?P<text>.*?)```",
    re.DOTALL,
)
TESTED = {
    "first-agent.md",
    "first-bench.md",
    "first-check.md",
    "first-operator.md",
    "first-score.md",
}
# The readers of the index (docs/README.md) who have a tutorial.
READERS = 5


@pytest.fixture
def clone(binary: str, tmp_path: Path) -> Path:
    """Returns a folder that looks like a built clone. The commands write their files to it."""
    (tmp_path / "build/release/bin").mkdir(parents=True)
    (tmp_path / "build/release/bin/assay").symlink_to(binary)
    return tmp_path


def blocks(name: str) -> list[re.Match[str]]:
    return list(BLOCK.finditer((TUTORIALS / name).read_text(encoding="utf-8")))


def replace(file: Path, change: str) -> str:
    """Applies "OLD -> NEW" to a file, and returns the former text."""
    old, new = change.split(" -> ")
    text = file.read_text(encoding="utf-8")
    assert old in text, f"{file} does not contain {old}"
    file.write_text(text.replace(old, new), encoding="utf-8")
    return text


def play(clone: Path, name: str) -> list[str]:
    """Follows a tutorial: writes its files, makes its edits and runs its commands. Returns the
    output of each block of commands."""
    outputs = []
    for block in blocks(name):
        key, value = block["key"], block["value"]
        if key == "file":
            (clone / value).write_text(block["text"], encoding="utf-8")
        if block["kind"] != "sh":
            continue
        if key == "edit":
            file, _, change = value.partition(": ")
            replace(clone / file, change)
        done = shell(clone, block["text"])
        assert done.returncode == int(value if key == "status" else 0), done.stdout + done.stderr
        outputs.append(done.stdout)
    return outputs


def test_every_tutorial_is_tested() -> None:
    assert {one.name for one in TUTORIALS.glob("*.md")} == TESTED
    index = (ROOT / "docs/README.md").read_text(encoding="utf-8")
    sections = [one for one in index.split("\n## ") if "(tutorial/" in one]
    assert len(sections) == READERS
    assert set(re.findall(r"\(tutorial/([\w-]+\.md)\)", index)) == TESTED


def test_first_check(clone: Path) -> None:
    wrong, right = play(clone, "first-check.md")
    assert wrong.startswith("fail (wrong_result): 2 of 4 cases wrong")
    assert right.startswith("pass: 4 cases right")


def test_first_operator(clone: Path) -> None:
    made, kind = play(clone, "first-operator.md")
    assert "1 of 1 operators are sound" in made and "\npass: 7 cases right" in made
    assert "1 of 1 operators are sound" in kind
    reference = clone / "my-suite/standard/swish_gate/reference.py"
    breaks = [one for one in blocks("first-operator.md") if one["key"] == "break"]
    assert len(breaks) == 2
    for one in breaks:
        before = replace(reference, one["value"])
        lint = shell(clone, "build/release/bin/assay operators --suite my-suite lint swish_gate")
        assert lint.returncode == 1 and one["text"].strip() in lint.stdout, lint.stdout
        reference.write_text(before, encoding="utf-8")


def test_first_score(clone: Path) -> None:
    python = [one["text"] for one in blocks("first-score.md") if one["kind"] == "python"]
    kernel, mended = python
    file = clone / "my_kernel.py"
    file.write_text(kernel, encoding="utf-8")
    lines = commands(TUTORIALS / "first-score.md", "assay ")
    assert [one.split("#")[0].strip() for one in lines] == [
        "assay operators show softmax_last_dim | head -30",
        "assay eval softmax_last_dim my_kernel.py --mode compile",
        "assay eval softmax_last_dim my_kernel.py",
    ]
    alias = 'assay() { build/release/bin/assay "$@"; }\n'
    shown, compiled, wrong = (shell(clone, alias + line) for line in lines)
    assert "softmax_last_dim(x: Tensor) -> Tensor" in shown.stdout
    assert compiled.returncode == 0, compiled.stdout
    assert wrong.returncode == 1 and "fail (wrong_result)" in wrong.stdout
    former = "    e = tl.exp(x.to(tl.float32))\n"
    assert former in kernel
    file.write_text(kernel.replace(former, mended), encoding="utf-8")
    right = shell(clone, alias + lines[-1])
    assert right.returncode == 0 and right.stdout.startswith("pass: "), right.stdout


def test_first_agent(clone: Path) -> None:
    lines = commands(TUTORIALS / "first-agent.md", "assay ")
    assert len(lines) == 5, lines
    demo, model, config, report, page = lines
    with Endpoint() as endpoint:
        endpoint.answers = {name: oracle(name) for name in ("vector_add", "relu")}
        (setting,) = commands(TUTORIALS / "first-agent.md", "export ASSAY_LLM_BASE_URL")
        assert PRINTED_URL in setting
        setting = setting.replace(PRINTED_URL, endpoint.url)
        for line in (demo, f"{setting}\n{model} --out second", config, report, page):
            done = shell(clone, line)
            assert done.returncode == 0, (line, done.stderr[-2000:])
    assert "assay" in (clone / ".mcp.json").read_text(encoding="utf-8")
    assert "<html" in (clone / "report.html").read_text(encoding="utf-8")
