"""Tests the expressions of a manifest: their values, the errors for mistakes, and texts whose
evaluation would be expensive."""

from __future__ import annotations

import time

import pytest
from harness.cuda_cpp.expressions import MAX_CHARS, ExpressionError, TensorFacts, evaluate

# Processor time. Without its limits, the evaluation of a hostile text would not end in minutes. A
# busy machine needs more than the usual milliseconds, because programs share its caches and cores.
AT_ONCE_S = 20.0
NAMES = {
    "n": 1000,
    "zero": 0,
    "big": 2**62,
    "eps": 1e-5,
    "flag": True,
    "x": TensorFacts("float16", 2, (6, 7), (7, 1)),
}


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("1", 1),
        (" n // 7 ", 142),
        ("ceil_div(n, 256)", 4),
        ("ceil_div(-7, 2)", -3),
        ("x.shape[0] * x.shape[-1]", 42),
        ("x.numel + x.ndim + x.itemsize + x.nbytes + x.strides[0]", 42 + 2 + 2 + 84 + 7),
        ("next_power_of_2(n)", 1024),
        ("next_power_of_2(1024)", 1024),
        ("next_power_of_2(0)", 1),
        ("log2_ceil(n)", 10),
        ("log2_ceil(1)", 0),
        ("min(n, 3, 7) + max(1, 2) + abs(-4)", 9),
        ("1 << 10 | 5 & 4 ^ 1", 1029),
        ("2 ** 62", 2**62),
        ("(-1) ** 1000001", -1),
        ("0 ** 0", 1),
        ("1 / 4", 0.25),
        ("sqrt(x.shape[0] * 6)", 6.0),
        ("eps * 2", 2e-5),
        ("7 if n % 8 == 0 and not flag or zero else 9", 9),
        ("0 < n <= 1000", True),
        ("-n", -1000),
    ],
)
def test_values(text: str, value: float) -> None:
    found = evaluate(text, NAMES)
    assert found == value
    assert type(found) is type(value)


@pytest.mark.parametrize(
    ("text", "kind", "says"),
    [
        ("n // zero", "zero_division", "divided by zero"),
        ("n % zero", "zero_division", "divided by zero"),
        ("1 / 0", "zero_division", "divided by zero"),
        ("ceil_div(n, zero)", "zero_division", "ceil_div(1000, 0)"),
        ("rows", "name_error", "unknown name 'rows'; valid: big, eps"),
        ("cdiv(n, 2)", "name_error", "unknown function 'cdiv'; valid: ceil_div"),
        ("n.shape[0]", "type_error", "n is a number"),
        ("x.device", "attribute_error", "x has no .device; valid: shape"),
        ("x.shape[2]", "index_error", "x.shape has 2 entries"),
        ("x.shape[0.5]", "type_error", "integers"),
        ("x + 1", "type_error", "x is a tensor where a number is needed"),
        ("x.shape", "type_error", "a whole shape"),
        ("ceil_div(n)", "type_error", "takes 2 arguments, not 1"),
        ("1.5 << 2", "type_error", "integers"),
        ("1 << 63", "value_error", "a shift by 63"),
        ("1 << -1", "value_error", "a shift by -1"),
        ("2 ** -1", "value_error", "the exponent"),
        ("sqrt(-1)", "value_error", "sqrt(-1)"),
        ("(-1.0) ** 0.5", "value_error", "** 0.5"),
        ("1e999", "value_error", "a result is inf"),
        ("1e300 * 1e300", "value_error", "a result is inf"),
        ("big * 2", "value_error", "more than 64 bits"),
        ("9" * 30, "value_error", "more than 64 bits"),
        ("9 ** 9 ** 9", "value_error", "more than 64 bits"),
        ("10 ** 400 ** 1.0", "value_error", "too large"),
        ("2.0 ** 1e300 ** 2", "value_error", "too large"),
        ("[1 for _ in (1,)][0]", "syntax_error", "Subscript cannot stand"),
        ("x.__class__.__mro__[1]", "syntax_error", "Attribute cannot stand"),
        ("", "syntax_error", "is not an expression"),
        ("1 +", "syntax_error", "is not an expression"),
        ("x = 1", "syntax_error", "is not an expression"),
        ("'a' * 9", "syntax_error", "Constant cannot stand"),
        ("[1] * 9", "syntax_error", "List cannot stand"),
        ("(lambda: 1)()", "syntax_error", "Call cannot stand"),
        ("[i for i in x]", "syntax_error", "ListComp cannot stand"),
        ("__import__('os').system('id')", "syntax_error", "Call cannot stand"),
        ("__import__('os')", "syntax_error", "Constant cannot stand"),
        ("x.__class__", "attribute_error", "x has no .__class__"),
        ("(n).__class__", "type_error", "n is a number"),
        ("f'{n}'", "syntax_error", "JoinedStr cannot stand"),
        ("n @ n", "syntax_error", "MatMult cannot stand"),
        ("n in x", "syntax_error", "Compare cannot stand"),
        ("min(*x.shape)", "syntax_error", "Starred cannot stand"),
        ("min(n, n, key=n)", "syntax_error", "Call cannot stand"),
        ("(y := 3)", "syntax_error", "NamedExpr cannot stand"),
        ("~n", "syntax_error", "UnaryOp cannot stand"),
        ("1j", "syntax_error", "Constant cannot stand"),
        ("\0", "syntax_error", "is not an expression"),
    ],
)
def test_mistakes(text: str, kind: str, says: str) -> None:
    with pytest.raises(ExpressionError) as caught:
        evaluate(text, NAMES)
    assert caught.value.kind == kind
    assert says in str(caught.value)


@pytest.mark.parametrize(
    "text",
    [
        "1" * (MAX_CHARS + 1),
        "(" * 190 + "1" + ")" * 190,
        "-" * (MAX_CHARS - 1) + "1",
        "not " * 99 + "1",
        "+".join(["1"] * 200),
        "2**" * 130 + "2",
        "1 if 1 else " * 33 + "1",
        "min(1," * 50 + "1" + ")" * 50,
        "9 << 62 << 62 << 62",
        "x.shape[" * 30 + "0" + "]" * 30,
    ],
)
def test_hostile_texts_end_at_once(text: str) -> None:
    started = time.process_time()
    try:
        assert evaluate(text, NAMES) is not None
    except ExpressionError as error:
        assert len(str(error)) < 1000
    assert time.process_time() - started < AT_ONCE_S
