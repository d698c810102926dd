"""Makes the data of the example site, site/example/data:

    python tests/common/example_site.py

The site has answers of language models that TritonBench's authors published, whose verdicts on an
H200 are in measurements/results. It also has the four reference agents with the simulated model,
which is no model, and the oracles, judged on the device `cpu` and not ranked. It takes some
minutes. tests/e2e/site/test_example.py makes a part of the data again and compares it with the
files."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "measurements"))

from site_pages import attempts_of, parts_of_folder, submit  # noqa: E402
from stdio_client import StdioClient  # noqa: E402

DATA = ROOT / "site/example/data"
AGENTS = ("one_shot", "leader", "alphaevolve", "geak")
OPERATORS = (
    *("vector_add", "gelu_tanh", "softmax_last_dim", "layer_norm_fwd"),
    *("clamped_affine_scan", "gluon_blocked_add"),
)
ORACLES = {"agent": "oracles", "model": "oracles (no model)"}
TITLE = "An example: published answers of models, a simulation and the oracles"
PUBLISHED = ROOT / "measurements/results/published-verdicts-h200.json"
# Some of the models, so that the data stays small.
PUBLISHED_MODELS = ("o1-2024-12-17", "claude-3-5-sonnet-20240620", "DeepSeek-R1", "gpt-4o")

# (agent, or model and agent of published answers, operator, sample) -> (result, tier)
Results = dict[tuple[str, str, int], tuple[str, str]]


def environment_of(folder: Path) -> dict[str, str]:
    return {**os.environ, "ASSAY_STATE_DIR": str(folder / "state")}


def run_agents(binary: str, folder: Path, agents: Sequence[str], operators: Sequence[str]) -> None:
    words = [binary, "bench", "--model", "sim:7", "--operators", ",".join(operators)]
    words += [word for agent in agents for word in ("--agent", agent)]
    words += ["--device", "cpu", "--store", str(folder / "s.db"), "--out", str(folder / "bench")]
    done = subprocess.run(words, env=environment_of(folder), capture_output=True, text=True)
    assert done.returncode in (0, 1), done.stderr


def submit_oracles(binary: str, folder: Path, operators: Sequence[str]) -> None:
    command = [binary, "serve", "--stdio", "--device", "cpu", "--store", str(folder / "s.db")]
    client = StdioClient(command)
    request = {**ORACLES, "track": "one_shot", "suite": ",".join(operators)}
    run = client.call("start_run", request)["structuredContent"]["run"]
    for name in operators:
        (oracle,) = ROOT.glob(f"operators/*/{name}/oracle.py")
        submit(client, run, name, oracle.read_text())
    client.close()


def import_published(binary: str, folder: Path) -> None:
    words = [binary, "import", "verdicts", str(PUBLISHED), "--store", str(folder / "s.db")]
    words += [word for model in PUBLISHED_MODELS for word in ("--model", model)]
    subprocess.run(words, env=environment_of(folder), check=True)


def make(binary: str, out: Path, agents: Sequence[str], operators: Sequence[str]) -> dict[str, Any]:
    """Makes the site in the folder `out`, and returns the parts of its data."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        run_agents(binary, folder, agents, operators)
        submit_oracles(binary, folder, operators)
        import_published(binary, folder)
        words = [binary, "site", "--out", str(out), "--title", TITLE, str(folder / "s.db")]
        subprocess.run(words, env=environment_of(folder), check=True)
    return parts_of_folder(out)


def results_of(parts: dict[str, Any]) -> Results:
    index = parts["index"]
    results: Results = {}
    for attempt in attempts_of(parts):
        group = index["groups"][attempt["group"]]
        name = index["suites"][group["suite"]]["operators"][attempt["operator"]]["name"]
        run = group["report"]["run"]
        who = f"{run['model']}, {run['agent']}" if group["provenance"] else run["agent"]
        key = (who, name, attempt["sample"])
        results[key] = (attempt["label"], attempt["tier"])
    return results


def main() -> None:
    binary = os.environ.get("ASSAY_BIN", str(ROOT / "build/release/bin/assay"))
    with tempfile.TemporaryDirectory() as out:
        parts = make(binary, Path(out) / "site", AGENTS, OPERATORS)
        shutil.rmtree(DATA, ignore_errors=True)
        shutil.copytree(Path(out) / "site/data", DATA)
    for key, result in sorted(results_of(parts).items()):
        print(json.dumps([*key, *result]))


if __name__ == "__main__":
    main()
