"""Makes stores, sites and pages for tests, reads their data, and opens them in headless Chromium.
tests/node/install.sh installs the browser, and site/build.sh builds the pages."""

from __future__ import annotations

import json
import os
import platform
import re
import subprocess
from pathlib import Path
from typing import Any

from stdio_client import StdioClient

ROOT = Path(__file__).resolve().parents[2]
INSTALL_S = 600
VISIT_S = 240

# Long names with markup, as a hostile client could choose them.
AGENT = "<script>window.injected=1</script>\"'&amp; äöü 漢字 " + "x" * 120
MODEL = "openai:<img src=x onerror=\"window.injected=1\"> & 'co' " + "W" * 100
RAISING = "</td></table><script>window.injected=1</script><svg onload='window.injected=1'>"
OPERATORS = ("vector_add", "gelu_tanh", "softmax_last_dim", "clamped_affine_scan")
# Maps each agent to its samples. A sample has one result for each operator.
SAMPLES = {
    AGENT: [
        ("perf=2.0", "perf=0.5", "fail", "error=key_error"),
        ("perf=1.0", "fail", "error=syntax_error", "error=timeout"),
    ],
    "geak": [
        ("perf=1.3", "perf=1.2", "perf=0.7", "fail"),
        ("perf=1.1", "fail", "perf=0.9", "fail"),
        ("perf=1.2", "fail", "fail", "perf=2.2"),
    ],
    "one_shot": [("perf=0.9", "fail", "fail", "error=timeout")],
    "untimed": [("pass", "pass", "fail", "error=timeout")],
}
MODELS = {
    AGENT: MODEL,
    "geak": "openai:m",
    "one_shot": "anthropic:m",
    "untimed": "sim:7 (no model)",
}
DOLLARS = {AGENT: 0.1, "geak": 4.5, "one_shot": 0.01}

Runs = dict[str, list[str]]


def submit(client: StdioClient, run: str, operator: str, code: str) -> None:
    done = client.call("submit", {"run": run, "operator": operator, "code": code})[
        "structuredContent"
    ]
    while done.get("status") == "running":
        done = client.call("job", {"job": done["job"], "wait_s": 20})["structuredContent"]


def fill(binary: str, store: Path) -> Runs:
    """Fills a store with runs of several agents on the fake device."""
    runs: Runs = {}
    client = StdioClient([binary, "serve", "--stdio", "--device", "fake", "--store", str(store)])
    for agent, samples in SAMPLES.items():
        runs[agent] = []
        for answers in samples:
            request = {
                "agent": agent,
                "model": MODELS[agent],
                "track": "one_shot",
                "suite": ",".join(OPERATORS),
            }
            run = client.call("start_run", request)["structuredContent"]["run"]
            for operator, answer in zip(OPERATORS, answers, strict=True):
                submit(
                    client, run, operator, f"# fake: {answer}\n# {RAISING}\ndef f(x):\n    pass\n"
                )
            if agent in DOLLARS:
                usage = {"input_tokens": 12345, "output_tokens": 678, "cost_usd": DOLLARS[agent]}
                client.call("report_usage", {"run": run, **usage})
            runs[agent].append(run)
    client.close()
    return runs


def build() -> Path:
    """Builds the pages, if they are not built. Returns the folder of their npm packages."""
    subprocess.run([str(ROOT / "site/build.sh")], check=True, timeout=INSTALL_S)
    return ROOT / "build/site"


def parts_of_page(html: str) -> dict[str, Any]:
    """Returns the parts of the data of a page that is a single file."""
    found = re.search(r'<script type="application/json" id="assay-data">(.*?)</script>', html, re.S)
    assert found is not None
    return {name: json.loads(text) for name, text in json.loads(found[1]).items()}


def parts_of_folder(site: Path) -> dict[str, Any]:
    """Returns the parts of the data of a site."""
    parts = {}
    for file in sorted((site / "data").iterdir()):
        text = file.read_text(encoding="utf-8")
        assert text.startswith("assayData(") and text.endswith(");\n"), file
        name, document = json.loads("[" + text[len("assayData(") : -len(");\n")] + "]")
        assert name == file.stem
        parts[name] = json.loads(document)
    return parts


def attempts_of(parts: dict[str, Any]) -> list[dict[str, Any]]:
    columns = parts["index"]["attempt_columns"]
    return [
        dict(zip(columns, row + [None] * (len(columns) - len(row)), strict=True))
        for part in range(len(parts["index"]["attempt_parts"]))
        for row in parts[f"attempts-{part}"]
    ]


def why_no_browser() -> str | None:
    """Returns the reason why this machine cannot run the browser, or None if it can. The only
    accepted reason is that the browser's package has no build for the machine. A missing library is
    a failure that names the library."""
    if platform.machine() == "x86_64":
        return None
    return f"the browser's npm package has no build for {platform.machine()}"


def visit(script: str, site: Path | str, pictures: str | None, **more: object) -> dict[str, Any]:
    """Runs a script of tests/node, which opens the site in the browser, and returns its facts."""
    installed = subprocess.run(
        [str(ROOT / "tests/node/install.sh")],
        stdout=subprocess.PIPE,
        text=True,
        check=True,
        timeout=INSTALL_S,
    )
    node_dir = Path(installed.stdout.strip())
    setup = {
        "chromium": str(node_dir / "browser/chromium"),
        "axe": str(build() / "node_modules/axe-core/axe.min.js"),
        "site": str(site),
        "pictures": pictures,
        **more,
    }
    done = subprocess.run(
        [str(node_dir / "node_modules/.bin/node"), str(ROOT / script), json.dumps(setup)],
        env={**os.environ, "ASSAY_NODE_DIR": str(node_dir)},
        capture_output=True,
        text=True,
        timeout=VISIT_S,
    )
    assert done.returncode == 0, f"the browser did not show {site}: {done.stderr[-2000:]}"
    facts: dict[str, Any] = json.loads(done.stdout)
    return facts
