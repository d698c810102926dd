"""Tests that options of another vendor's compiler are left out in each form in which a file can
have them, and that nothing else of the file changes."""

from __future__ import annotations

import ast
import os
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
for folder in ("common", "tritonbench"):
    sys.path.insert(0, os.fspath(ROOT / "importers" / folder))

from golden_options import OF_AMD, without_foreign_options  # noqa: E402

FORMS = [
    # Values and keys in parentheses.
    ("Config({'B': 1, 'waves_per_eu': (2)})", "Config({'B': 1})"),
    ("Config({'waves_per_eu': ((2)), 'B': (1)})", "Config({'B': (1)})"),
    ("Config({'B': 1, ('kpack'): (lambda a, b: (a, b))})", "Config({'B': 1})"),
    ("Config({(('kpack')): (1, 2), 'B': 1})", "Config({'B': 1})"),
    ("Config({'B': 1, 'kpack': ((1), (2))})", "Config({'B': 1})"),
    ("k[g](x, kpack=(n if n else (2)), num_warps=(4))", "k[g](x, num_warps=(4))"),
    ("k[g](x, kpack=(y := 2))", "k[g](x)"),
    # Values that contain commas, brackets and strings with such characters.
    ("Config({'kpack': f(1, [2], '},)'), 'B': 1})", "Config({'B': 1})"),
    ("Config({'B': 1, 'kpack': 'é,' f'{n},)'})", "Config({'B': 1})"),
    # Several of them, and commas at the end.
    ("Config({'B': 1, 'kpack': 1, 'waves_per_eu': 2})", "Config({'B': 1})"),
    ("Config({'kpack': 1, 'waves_per_eu': (2),}, num_warps=4)", "Config({}, num_warps=4)"),
    ("k[g](kpack=1, waves_per_eu=2, matrix_instr_nonkdim=16,)", "k[g]()"),
    ("k[g](x, kpack=1, y=2, waves_per_eu=2)", "k[g](x, y=2)"),
    # Other ways to write a dict.
    ("Config(dict(B=1, waves_per_eu=2), num_warps=4)", "Config(dict(B=1), num_warps=4)"),
    ("Config(kwargs=dict(kpack=(1)))", "Config(kwargs=dict())"),
    ("Config(dict({'B': 1, 'kpack': 2}, **{'kpack': 1}))", "Config(dict({'B': 1}, **{}))"),
    ("Config({**{'kpack': 1}, **more, 'B': 1})", "Config({**{}, **more, 'B': 1})"),
    ("Config({'B': 1} | {'kpack': 1})", "Config({'B': 1} | {})"),
    ("k[g](x, **{'waves_per_eu': 2})", "k[g](x, **{})"),
    ("k[g](x, **{'n': 1, 'kpack': (2)}, y=1)", "k[g](x, **{'n': 1}, y=1)"),
    ("k[g](x, **dict(waves_per_eu=2, n=1))", "k[g](x, **dict(n=1))"),
    # Comments and lines.
    ("Config({\n'kpack': (  # (a,\n 1  # b)\n)  # c,\n, 'B': 1})", "Config({'B': 1})"),
    ("Config({'B': 1,  # a\n 'kpack': \\\n 1  # b\n})", "Config({'B': 1})"),
    # No dict of options.
    ("f(kpack=1, **{'kpack': 1})", "f(kpack=1, **{'kpack': 1})"),
    ("k[g]({'kpack': 1}, options['kpack'])", "k[g]({'kpack': 1}, options['kpack'])"),
]


@pytest.mark.parametrize(("given", "wanted"), FORMS)
@pytest.mark.parametrize("after", ["", "\r"])
def test_only_the_options_are_left_out(given: str, wanted: str, after: str) -> None:
    text = f"é = 1\nmade = [é, {given}]\nlast = 1\n".replace("\n", after + "\n")
    left, names = without_foreign_options(text, "cuda:90")
    assert ast.dump(ast.parse(left)) == ast.dump(
        ast.parse(f"é = 1\nmade = [é, {wanted}]\nlast = 1")
    )
    assert left.count("\n") == text.count("\n") and len(left.encode()) == len(text.encode())
    assert names == [name for name in OF_AMD if name in given and name not in wanted]


def test_a_file_with_an_error_is_told() -> None:
    with pytest.raises(SyntaxError):
        without_foreign_options("Config({'kpack': 1)", "cuda:90")
