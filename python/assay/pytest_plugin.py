"""A plugin for pytest with the fixture `assert_kernel_equal`. Name it in conftest.py:

pytest_plugins = ["assay.pytest_plugin"]

def test_softmax(assert_kernel_equal):
    assert_kernel_equal("my.py:f", "ref.py:f", inputs={"x": "f32[{n}]"}, sizes={"n": 1000})"""

from __future__ import annotations

from collections.abc import Callable, Mapping

import pytest

from assay.checks import CheckResult, check


def assert_equal(
    kernel: str,
    reference: str,
    *,
    inputs: Mapping[str, str],
    sizes: Mapping[str, int] | None = None,
    options: tuple[str, ...] = (),
) -> CheckResult:
    """Fails the test if the kernel's outputs differ from the reference's."""
    result = check(kernel, against=reference, inputs=inputs, sizes=sizes, options=options)
    if not result.passed:
        pytest.fail(f"{kernel} is not equal to {reference}: {result.text}", pytrace=False)
    return result


@pytest.fixture
def assert_kernel_equal() -> Callable[..., CheckResult]:
    return assert_equal
