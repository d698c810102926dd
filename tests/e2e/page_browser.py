"""Measures pages in headless Chromium. The browser lays out a page at the size of a phone's screen,
at the size of a desktop's screen, and for print. tests/node/install.sh installs the browser."""

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
]  # a result of tests/node/page_measure.mjs, with the page's requests and console messages


def why_no_browser() -> str | None:
    """Returns the reason why this machine cannot run the browser, or None if it can. The only
    accepted reason is that the browser's package has no build for the machine. A missing library is
    a failure that names the library."""
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
        """Shows the page. Returns what its content security policy refused, and its measured
        appearance on each medium: phone, phone dark, desktop, dark, print. `pictures` is a folder
        for screenshots."""
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
