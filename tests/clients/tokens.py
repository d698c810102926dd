"""Counts tokens with OpenAI's tokenizer o200k. It is the only tokenizer of a real model that is
available as a complete package.

On text and code, the counts of other models' tokenizers differ by about ten per cent, so the limits
in the tests leave a margin."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path

PROGRAM = Path(__file__).resolve().parents[1] / "node/tokens.mjs"


def count_tokens(node_dir: Path, texts: list[str]) -> list[int]:
    done = subprocess.run(
        [str(node_dir / "node_modules/.bin/node"), str(PROGRAM)],
        input="".join(json.dumps(text) + "\n" for text in texts),
        stdout=subprocess.PIPE,
        text=True,
        timeout=60,
        check=True,
        env={**os.environ, "ASSAY_NODE_DIR": str(node_dir)},
    )
    counts = [int(line) for line in done.stdout.split()]
    assert len(counts) == len(texts)
    return counts
