"""Tests the line number in the report of an error. An exception of a submission can contain any
number, but the report contains only numbers of lines that the source has."""

from __future__ import annotations

import pytest
from harness.entry.errors import Source, describe

PATH = "/nowhere/submission.py"


def raised(text: str) -> BaseException:
    try:
        exec(compile(text, PATH, "exec"), {})
    except BaseException as error:
        return error
    raise AssertionError("the text raises nothing")


@pytest.mark.parametrize("line", ["-3", "0", "3", "10**40", "2**63 - 1", "'2'", "True", "None"])
def test_a_line_that_the_source_does_not_have_is_dropped(line: str) -> None:
    # Two lines; the second is empty.
    text = f"raise SyntaxError('bad', ({PATH!r}, {line}, 0, ''))\n"
    found = describe(raised(text), Source(text, PATH), "import")
    assert found["kind"] == "syntax_error"
    assert found["line"] is None
    assert found["code"] == ""


def test_a_frame_can_claim_a_line_that_the_source_does_not_have() -> None:
    text = f"exec(compile('\\n' * 411 + 'raise ValueError', {PATH!r}, 'exec'))\n"
    found = describe(raised(text), Source(text, PATH), "import")
    assert found["kind"] == "value_error"
    assert found["line"] is None
    assert "412" not in found["traceback"]


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_a_line_of_the_source_is_reported_whatever_ends_its_lines(end: str) -> None:
    # A form feed ends no line.
    text = end.join(["x = 1", "y = '\f'", "raise ValueError('here')", ""])
    source = Source(text, PATH)
    source.remember()
    found = describe(raised(text), source, "import")
    assert found["line"] == 3
    assert found["code"] == "raise ValueError('here')"
    assert "raise ValueError('here')" in found["traceback"]


def test_a_message_has_no_fake_tensors_and_no_addresses() -> None:
    text = (
        "class FakeTensor:\n    def __repr__(self):\n"
        "        return \"FakeTensor(..., device='cuda:0', size=(8,))\"\n"
        "raise ValueError(f'{FakeTensor()!r}: {object()!r} at 0x1234 is no FakeTensor')\n"
    )
    source = Source(text, PATH)
    found = describe(raised(text), source, "run")
    assert found["message"] == (
        "Tensor(device='cuda:0', size=(8,)): <object object> at 0x1234 is no Tensor"
    )
    assert "object at 0x" not in found["traceback"]
