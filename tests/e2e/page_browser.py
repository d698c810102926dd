"""Pages in a real browser: headless Chromium, which tests/node/install.sh brings, says what it sees
on a phone, a desktop and paper."""

from __future__ import annotations

import json
import os
import platform
import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
INSTALL_S = 600
LOOK_S = 120

Look = dict[
    str, Any
]  # what tests/node/page_measure.mjs returns, and what the page asked for and said


def why_no_browser() -> str | None:
    """There is one wherever its package has a build; a machine that lacks a library of it fails and
    says which."""
    return (
        None
        if platform.machine() == "x86_64"
        else f"the browser's npm package has no build for {platform.machine()}"
    )


@dataclass(frozen=True)
class Browser:
    node_dir: Path

    def look_at(
        self, page: Path, pictures: Path | None = None
    ) -> tuple[list[str], dict[str, Look]]:
        """What the page's policy refused, and its looks: phone, phone dark, desktop, dark, print.
        `pictures`: a folder for screenshots."""
        setup = {
            "chromium": str(self.node_dir / "browser/chromium"),
            "page": str(page),
            "pictures": str(pictures) if pictures else None,
        }
        node = self.node_dir / "node_modules/.bin/node"
        done = subprocess.run(
            [str(node), str(ROOT / "tests/node/page_facts.mjs"), json.dumps(setup)],
            env={**os.environ, "ASSAY_NODE_DIR": str(self.node_dir)},
            capture_output=True,
            text=True,
            timeout=LOOK_S,
        )
        assert done.returncode == 0, f"the browser did not show {page}: {done.stderr[-2000:]}"
        facts = json.loads(done.stdout)
        return facts["policy"], facts["looks"]


def install() -> Browser:
    done = subprocess.run(
        [str(ROOT / "tests/node/install.sh")],
        stdout=subprocess.PIPE,
        text=True,
        check=True,
        timeout=INSTALL_S,
    )
    return Browser(Path(done.stdout.strip()))
