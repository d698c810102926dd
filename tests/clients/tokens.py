"""Counts tokens with OpenAI's o200k, the only real tokenizer that is available as a complete
package.

Tokenizers of other models differ by about ten per cent on text and code, so the limits of the tests
leave a margin."""

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
