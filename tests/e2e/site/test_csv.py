"""Tests the CSV that the pages write: each cell is one line, and has the same escapes as the CSV of
`assay report`, whose characters base/text.cc lists."""

from __future__ import annotations

import csv
import io
import json
import re
import subprocess
from pathlib import Path

import pytest
from conftest import ROOT
from site_pages import build

SHOW = """
import { readFileSync } from 'node:fs';
const { csvOf } = await import(process.argv[2]);
const rows = JSON.parse(readFileSync(process.argv[3], 'utf8'));
process.stdout.write(csvOf(['a', 'b'], rows));
"""
SURROGATES = range(0xD800, 0xE000)


@pytest.fixture(scope="module")
def module(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Returns the folder of the compiled csv.ts and a script that calls it."""
    folder = tmp_path_factory.mktemp("csv")
    words = [str(build() / "node_modules/.bin/esbuild"), str(ROOT / "site/src/csv.ts")]
    words += ["--bundle", "--format=esm", f"--outfile={folder / 'csv.mjs'}"]
    subprocess.run(words, check=True, capture_output=True)
    (folder / "show.mjs").write_text(SHOW)
    return folder


def csv_of(module: Path, rows: list[list[str | int | None]]) -> str:
    given = module / "rows.json"
    given.write_text(json.dumps(rows))
    words = ["node", str(module / "show.mjs"), str(module / "csv.mjs"), str(given)]
    done = subprocess.run(words, check=True, capture_output=True)
    return done.stdout.decode()


def escaped_codes() -> set[int]:
    """Returns the characters that escape_text() of base/text.cc writes as numbers."""
    text = (ROOT / "base/text.cc").read_text()
    table = text[text.index("kDeceptive = ") : text.index("bool is_deceptive")]
    ranges = re.findall(r"\{(0x[0-9a-f]+), (0x[0-9a-f]+)\}", table)
    assert len(ranges) == 17
    codes = {*range(0x20), *range(0x7F, 0xA0)}
    for first, last in ranges:
        codes |= set(range(int(first, 16), int(last, 16) + 1))
    return codes - {ord("\n"), ord("\t")}


def test_the_escapes_are_those_of_the_program(module: Path) -> None:
    codes = [code for code in range(1, 0x110000) if code not in SURROGATES]
    lines = csv_of(module, [[chr(code) + "x", code] for code in codes]).split("\r\n")
    assert len(lines) == len(codes) + 2 and lines[-1] == ""
    escaped = {
        code
        for code, line in zip(codes, lines[1:], strict=False)
        if line in (f"\\x{code:02x}x,{code}", f"\\u{{{code:04x}}}x,{code}")
    }
    assert escaped == escaped_codes() - {0}


def test_a_cell_is_one_line_and_no_formula(module: Path) -> None:
    labels = ["a\nb", "a\r\nb", "a\tb", "=1+1", "\t=1+1", "  @f", 'a "b", c', "a\u2028b"]
    text = csv_of(module, [[label, -1] for label in labels])
    assert text.count("\r\n") == text.count("\n") == text.count("\r") == len(labels) + 1
    cells = [row["a"] for row in csv.DictReader(io.StringIO(text, newline=""))]
    assert cells[:6] == ["a b", "a b", "a b", "'=1+1", "' =1+1", "'  @f"]
    assert cells[6:] == ['a "b", c', "a\\u{2028}b"]
    assert all(line.endswith(",-1") for line in text.split("\r\n")[1:-1])
