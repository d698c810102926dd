"""Tests what the Python package offers without a server's URL or on top of its results:
`assay.check`, the pytest plugin and the pandas frame. The checks run on the fake device, because
tests/e2e/test_check.py tests what `assay check` itself finds."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import assay
import pytest

ROOT = Path(__file__).resolve().parent.parent.parent
PASS = "# fake: pass\n"
FAIL = "# fake: fail\n"
FAKE = ("--device", "fake")
FUNCTION = "def f(x):\n    return x\n"
TESTS = f"""
INPUTS = {{"x": "f32[{{n}}]"}}


def test_right(assert_kernel_equal):
    found = assert_kernel_equal(
        "right.py:f", "ref.py:f", inputs=INPUTS, sizes={{"n": 10}}, options={FAKE}
    )
    assert found.passed and found.verdict["cases"][0]["id"] == "n=10"


def test_wrong(assert_kernel_equal):
    assert_kernel_equal("wrong.py:f", "ref.py:f", inputs=INPUTS, sizes={{"n": 10}}, options={FAKE})
"""


@pytest.fixture(scope="module")
def kernels(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("kernels")
    (folder / "right.py").write_text(PASS + FUNCTION)
    (folder / "wrong.py").write_text(FAIL + FUNCTION)
    (folder / "ref.py").write_text(FUNCTION)
    return folder


@pytest.fixture
def here(binary: str, kernels: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("ASSAY_BINARY", binary)
    monkeypatch.setenv("ASSAY_STATE_DIR", str(kernels / "state"))
    monkeypatch.chdir(kernels)
    return kernels


def check(kernel: str, **sizes: int) -> assay.CheckResult:
    return assay.check(
        kernel, against="ref.py:f", inputs={"x": "f32[{n}]"}, sizes=sizes, options=FAKE
    )


def test_check_returns_the_verdict(here: Path) -> None:
    right = check("right.py:f", n=10)
    assert right.passed and right.text == "1 of 1 cases pass"
    assert right.verdict["format"] == "assay.verdict/2"
    wrong = check("wrong.py:f", n=10)
    assert not wrong.passed and wrong.verdict["error_kind"] == "wrong_result"
    assert "expected 1, got 0.5" in wrong.verdict["cases"][0]["reason"]


def test_check_without_a_verdict_is_an_error(here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(assay.AssayError, match=r"none\.py"):
        check("none.py:f", n=10)
    with pytest.raises(assay.AssayError, match="axis 'n' has no value"):
        check("right.py:f")  # the axis n has no size
    monkeypatch.delenv("ASSAY_BINARY")
    monkeypatch.setenv("PATH", str(here))
    with pytest.raises(assay.AssayError, match="ASSAY_BINARY"):
        check("right.py:f", n=10)


def test_the_plugin_fails_a_test_whose_kernel_is_wrong(here: Path) -> None:
    (here / "conftest.py").write_text('pytest_plugins = ["assay.pytest_plugin"]\n')
    (here / "test_kernels.py").write_text(TESTS)
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "test_kernels.py"],
        cwd=here,
        env={**os.environ, "PYTHONPATH": str(ROOT / "python")},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 1, done.stdout + done.stderr
    assert "1 failed, 1 passed" in done.stdout
    assert "wrong.py:f is not equal to ref.py:f: " in done.stdout
    assert "pytest_plugin.py" not in done.stdout  # no traceback of the plugin


def test_results_become_a_frame(client: assay.Client) -> None:
    members = [
        assay.Evaluation("vector_add", source=PASS),
        assay.Evaluation("vector_add", source=FAIL),
        assay.Evaluation("no_such_operator", source=PASS),
    ]
    frame = assay.results_frame(client.evaluate_all(members, rewards=["kevin"]))
    assert list(frame["index"]) == [0, 1, 2]
    assert list(frame["correct"]) == [True, False, False]
    assert list(frame["reward_kevin"][:2]) == [0.3, 0.0] and frame["reward_kevin"].isna()[2]
    assert frame["problem"].isna().tolist() == [True, True, False]
    assert "rewards" not in frame and "perf" in frame
    assert assay.results_frame([]).empty
