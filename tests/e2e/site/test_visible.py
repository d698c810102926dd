"""Tests that the pages show characters which hide or reorder others."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

from conftest import ROOT
from site_pages import build

# A document that keeps the texts of its nodes.
SHOW = """
const texts = [];
globalThis.Node = class {};
globalThis.document = {
  createElement: () =>
    Object.assign(new Node(), { appendChild: () => {}, setAttribute: () => {} }),
  createTextNode: (text) => texts.push(text),
};
const { h } = await import(process.argv[2]);
h('p', {}, ...JSON.parse(process.argv[3]));
process.stdout.write(JSON.stringify(texts));
"""


def test_texts_show_what_hides_or_reorders_others(tmp_path: Path) -> None:
    words = [str(build() / "node_modules/.bin/esbuild"), str(ROOT / "site/src/dom.ts")]
    words += ["--bundle", "--format=esm", f"--outfile={tmp_path / 'dom.mjs'}"]
    subprocess.run(words, check=True, capture_output=True)
    (tmp_path / "show.mjs").write_text(SHOW)
    texts = ["def f():\n\treturn 1", "a\u202eb", "a\u200bb\x1b[1m", "x\r\ny", "é 漢 <b>"]
    words = ["node", str(tmp_path / "show.mjs"), str(tmp_path / "dom.mjs"), json.dumps(texts)]
    done = subprocess.run(words, check=True, capture_output=True)
    assert json.loads(done.stdout) == [
        "def f():\n\treturn 1",
        "a\\u{202e}b",
        "a\\u{200b}b\\x1b[1m",
        "x\\x0d\ny",
        "é 漢 <b>",
    ]
