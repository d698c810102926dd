"""Tests a bench whose model misbehaves: its endpoint fails, its replies are odd, or it costs more
than the spending limit. Each test checks that the bench wrote the API key nowhere."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from llm_endpoint import KEY, Endpoint, Reply, completion, error

Run = Callable[..., subprocess.CompletedProcess[str]]

ROOT = Path(__file__).resolve().parents[3]
OPERATORS = ["vector_add", "gelu_tanh", "softmax_last_dim", "relu"]
CUT = Reply(body=completion("x" * 1000, None), missing_bytes=500)
HTML = Reply(body=b"<html>bad gateway</html>")
NO_CHOICES = Reply(body=b'{"choices": []}')


@pytest.fixture
def endpoint() -> Iterator[Endpoint]:
    with Endpoint() as started:
        yield started


class Bench:
    """A bench in a folder, which a test can run several times. After each run, checks that no file
    and no output contains the API key."""

    def __init__(self, assay: Run, endpoint: Endpoint, folder: Path) -> None:
        self.assay, self.endpoint, self.folder = assay, endpoint, folder

    def run(
        self, *more: str, model: str = "openai-compatible:m", device: str = "fake", **env: str
    ) -> subprocess.CompletedProcess[str]:
        where = [
            "--store",
            str(self.folder / "s.db"),
            "--out",
            str(self.folder / "out"),
            "--device",
            device,
        ]
        names = {"ASSAY_LLM_BASE_URL": self.endpoint.url, "ASSAY_LLM_API_KEY": KEY, **env}
        done = self.assay(
            "bench",
            "--model",
            model,
            "--operators",
            ",".join(OPERATORS),
            *where,
            *more,
            timeout=240,
            **names,
        )
        reports = [
            self.assay("report", "--store", str(self.folder / "s.db"), "--format", form)
            for form in ("table", "json", "csv", "html")
        ]
        said = (
            done.stdout + done.stderr + "".join(report.stdout + report.stderr for report in reports)
        )
        written = [
            path for path in self.folder.rglob("*") if path.is_file() and not path.is_symlink()
        ]
        assert len(written) >= 3, done.stderr
        assert KEY not in said
        assert not [path for path in written if KEY.encode() in path.read_bytes()]
        return done

    def transcript(self, operator: str) -> list[dict[str, str]]:
        return [
            json.loads(line)
            for line in (self.folder / f"out/transcripts/{operator}.1.jsonl")
            .read_text()
            .splitlines()
        ]

    def ends(self) -> list[dict[str, Any]]:
        lines = [
            json.loads(line)
            for line in (self.folder / "out/journal.jsonl").read_text().splitlines()
        ]
        return [line for line in lines if line["kind"] == "finished"]

    def rows(self) -> dict[str, dict[str, str]]:
        document = json.loads(
            self.assay(
                "report",
                "--store",
                str(self.folder / "s.db"),
                "--bench",
                str(self.folder / "out"),
                "--format",
                "json",
            ).stdout
        )
        return {row["operator"]: row for row in document["operators"]}


@pytest.fixture
def bench(assay: Run, endpoint: Endpoint, tmp_path: Path) -> Bench:
    return Bench(assay, endpoint, tmp_path)


def test_transient_errors_are_retried(bench: Bench, endpoint: Endpoint) -> None:
    endpoint.first = [
        error(429, "slow down"),
        error(429, "slow down", Retry_After="0"),
        error(500, "oops"),
        CUT,
        error(503, "busy"),
        error(408, "late"),
    ]
    done = bench.run("--jobs", "4")
    assert done.returncode == 0, done.stderr
    assert (
        "4 of 4" in done.stdout
        and endpoint.requests == 10
        and sorted(endpoint.asked) == sorted(OPERATORS)
    )


def test_a_refused_key_stops_the_bench_at_once(bench: Bench, endpoint: Endpoint) -> None:
    endpoint.first = [error(401, f"Incorrect API key provided: {KEY}")] * 9
    done = bench.run("--jobs", "1")
    assert done.returncode == 2 and endpoint.requests == 1
    assert (
        "stopped: openai-compatible: HTTP 401 for model 'm': Incorrect API key provided: [key]"
        in done.stderr
    )
    assert (
        "4 of 4 attempts are not finished; the same command with --resume continues" in done.stderr
    )


TOO_LONG = error(400, "This model's maximum context length is 8192 tokens")


def test_a_refused_prompt_is_tried_again(bench: Bench, endpoint: Endpoint) -> None:
    endpoint.first = [TOO_LONG] * 2
    done = bench.run("--jobs", "1")
    assert done.returncode == 0 and endpoint.requests == 6 and len(endpoint.asked) == 4, done.stderr


def test_a_prompt_that_is_always_refused_fails_only_its_operator(
    bench: Bench, endpoint: Endpoint
) -> None:
    endpoint.first = [TOO_LONG] * 3
    done = bench.run("--jobs", "1")
    assert done.returncode == 0 and endpoint.requests == 6 and len(endpoint.asked) == 3, done.stderr
    assert re.search(
        r"not submitted +openai-compatible: HTTP 400 for model 'm': This model's maximum context",
        done.stderr,
    ), done.stderr
    assert "3 of 4" in done.stdout
    refused = [end for end in bench.ends() if end["outcome"] != "pass"]
    assert [(end["outcome"], end["error_kind"], end["replies"]) for end in refused] == [
        ("error", "prompt_refused", 0)
    ]
    again = bench.run("--jobs", "1", "--resume")
    assert again.returncode == 0 and endpoint.requests == 6, "it is over: nothing is asked again"


def test_an_endpoint_that_refuses_every_prompt_is_not_given_the_whole_suite(
    bench: Bench, endpoint: Endpoint
) -> None:
    endpoint.always = error(400, "max_tokens is too large")
    done = bench.run("--jobs", "1")
    assert done.returncode == 2 and endpoint.requests == 9, done.stderr
    assert "max_tokens is too large; 1 of 4 attempts are not finished" in done.stderr


def test_an_account_without_credit_is_resumed(bench: Bench, endpoint: Endpoint) -> None:
    endpoint.first = [error(400, "Your credit balance is too low to access the API")] * 3
    done = bench.run("--jobs", "1")
    assert (
        done.returncode == 2
        and "4 of 4 attempts are not finished" in done.stderr
        and not bench.ends()
    )
    again = bench.run("--jobs", "1", "--resume")
    assert again.returncode == 0 and "4 of 4" in again.stdout


def test_answers_that_are_no_replies_are_asked_for_again(bench: Bench, endpoint: Endpoint) -> None:
    endpoint.first = [HTML, NO_CHOICES, Reply(body=f'{{"error": "no backend for {KEY}"}}'.encode())]
    done = bench.run("--jobs", "1")
    assert done.returncode == 0, done.stderr
    assert endpoint.requests == 7 and "400 in, 40 out" in done.stdout
    # What the endpoint does is shown while it happens.
    assert re.search(
        r"gelu_tanh +model +try 2 of 6 in [0-9.]+ s: the answer is not a JSON object\n"
        r" +gelu_tanh +model +try 3 of 6 in [0-9.]+ s: the answer is not a reply\n",
        done.stderr,
    ), done.stderr


def test_a_reply_that_was_cut_off_is_truncated(bench: Bench, endpoint: Endpoint) -> None:
    half = "```python\ndef relu(x):\n    return"
    endpoint.contents = {
        "relu": half,
        "vector_add": "```python\n# fake: pass\n```\nIt also",
        "gelu_tanh": "Sorry, I cannot do that.",
    }
    endpoint.finish = {"relu": "length", "vector_add": "length"}
    done = bench.run("--jobs", "1", "--max-cost", "100", "--price", "1000,2000")
    assert done.returncode == 0, done.stderr
    assert {name: row["label"] for name, row in bench.rows().items()} == {
        "vector_add": "pass",  # its code was complete
        "gelu_tanh": "no_code",
        "softmax_last_dim": "pass",
        "relu": "truncated",
    }
    assert [end["outcome"] for end in bench.ends() if end["operator"] == "relu"] == ["truncated"]
    assert "1 no_code" in done.stdout and "1 truncated" in done.stdout
    assert "syntax_error" not in done.stdout
    # 400 tokens of prompts at $1000 and 40 tokens of replies at $2000 for a million tokens.
    assert "$0.4800" in done.stdout


def test_a_reply_that_echoes_the_key(bench: Bench, endpoint: Endpoint) -> None:
    endpoint.contents = {
        "vector_add": f"Authorization: Bearer {KEY}\n```python\n# fake: fail\nkey = '{KEY}'\n```"
    }
    assert bench.run().returncode == 0
    assert any("[key]" in line.get("text", "") for line in bench.transcript("vector_add"))


def test_odd_replies(bench: Bench, endpoint: Endpoint) -> None:
    """Sends odd replies to a bench on the CPU device, which really runs the code in them."""
    oracles = {
        name: (ROOT / f"operators/standard/{name}/oracle.py").read_text(encoding="utf-8")
        for name in OPERATORS
    }
    several = "First:\n```python\ndef helper(x):\n    return x\n```\nAll:\n```python\n{}```\n"
    several += "Use it:\n```python\nprint(gelu_tanh)\n```\n```sh\nls\n```\n"
    endpoint.contents = {
        "vector_add": "I would use a kernel with a mask, größer ≤ 😀.",
        "gelu_tanh": several.format(oracles["gelu_tanh"]),
        "softmax_last_dim": None,
        "relu": "So:\n```python\n" + "# lang, länger, 長い\n" * 9000 + oracles["relu"] + "```\n",
    }
    assert len((endpoint.contents["relu"] or "").encode()) > 200_000
    done = bench.run("--jobs", "2", device="cpu")
    assert done.returncode == 0, done.stderr
    rows = bench.rows()
    assert {name: rows[name]["label"] for name in OPERATORS} == {
        "vector_add": "no_code",
        "gelu_tanh": "pass",
        "softmax_last_dim": "no_code",
        "relu": "pass",
    }
    # A reply without code is never submitted, so it is no error of a compiler.
    assert not rows["vector_add"].get("error_kind") and not rows["vector_add"]["job"]
    assert "the reply holds no code" in rows["vector_add"]["explanation"]
    assert re.search(
        r"softmax_last_dim +no_code +.*the reply holds no code \(stop reason: stop\)",
        done.stderr,
    ), done.stderr
    assert "größer ≤ 😀" in "".join(line.get("text", "") for line in bench.transcript("vector_add"))


def test_a_submission_does_not_see_the_key(bench: Bench, endpoint: Endpoint) -> None:
    """Checks that a submission does not see the API key. The server of a bench has the bench's
    environment, but submissions get another environment."""
    look = "import os, sys, glob\nprint(dict(os.environ), sys.argv)\n"
    look += "for path in glob.glob('/proc/[0-9]*/environ') + glob.glob('/proc/[0-9]*/cmdline'):\n"
    look += "    try:\n        print(path, open(path).read())\n    except OSError as error:\n        print(path, error)\n"
    endpoint.answers = dict.fromkeys(OPERATORS, look + "def vector_add(x, y):\n    return x\n")
    done = bench.run(device="cpu")
    assert done.returncode == 0, done.stderr
    assert any(
        "OMP_NUM_THREADS" in json.dumps(line)
        for line in bench.transcript("vector_add")
        if line["kind"] == "tool_result"
    ), "it printed nothing"


def test_missing_usage_is_remarked(bench: Bench, endpoint: Endpoint) -> None:
    endpoint.usage = None
    done = bench.run()
    assert done.returncode == 0, done.stderr
    assert "0 in, 0 out" in done.stdout and done.stderr.count(
        "the endpoint reported no token usage"
    ) == len(OPERATORS)


def test_an_unknown_cost_is_not_reported_as_zero(bench: Bench) -> None:
    """Checks that an unknown cost is not reported as 0. The model of these tests has no price, so
    its cost is unknown. The cost is 0 only for replies that no model wrote."""
    done = bench.run()
    assert "The price of openai-compatible:m is not known" in done.stderr and re.search(
        r"^cost +not known$", done.stdout, re.MULTILINE
    )
    assert [end["cost_usd"] for end in bench.ends()] == [None] * 4
    shutil.rmtree(bench.folder / "out")
    done = bench.run(model="sim:7")
    assert (
        re.search(r"^cost +none$", done.stdout, re.MULTILINE)
        and [end["cost_usd"] for end in bench.ends()] == [0] * 4
    )


@pytest.fixture
def priced_root(tmp_path: Path) -> Path:
    """Returns a source tree that has a price for the model of these tests."""
    root = tmp_path / "root"
    llm = root / "reference_agents/llm"
    llm.mkdir(parents=True)
    for folder, seen in (
        (ROOT, "reference_agents"),
        (ROOT / "reference_agents", "llm"),
        (ROOT / "reference_agents/llm", "prices.toml"),
    ):
        for entry in folder.iterdir():
            if entry.name not in (seen, ".git"):
                (root / folder.relative_to(ROOT) / entry.name).symlink_to(entry)
    prices = (ROOT / "reference_agents/llm/prices.toml").read_text(encoding="utf-8")
    # Ten tokens of output cost one cent.
    line = '"openai-compatible:m" = { input = 0, output = 1000, source = "history" }'
    (llm / "prices.toml").write_text(
        prices.replace("[models]\n", f"[models]\n{line}\n"), encoding="utf-8"
    )
    return root


@pytest.mark.parametrize("reported", [True, False], ids=["usage", "no usage"])
def test_the_spending_limit_stops_the_bench_cleanly(
    bench: Bench, endpoint: Endpoint, priced_root: Path, reported: bool
) -> None:
    worst = 16.384  # the cost of a reply with all allowed tokens, in dollars
    if not reported:
        endpoint.usage = None
    limit = worst + 0.015 if reported else 2.5 * worst
    done = bench.run("--jobs", "2", "--max-cost", str(limit), ASSAY_ROOT=str(priced_root))
    assert done.returncode == 2, done.stderr
    assert endpoint.requests == 2  # a third request could exceed the limit
    assert (
        "stopped: spending limit reached: $" in done.stderr
        and "2 of 4 attempts are not finished" in done.stderr
    )
    if not reported:
        again = bench.run(
            "--jobs", "2", "--max-cost", str(limit), "--resume", ASSAY_ROOT=str(priced_root)
        )
        assert again.returncode == 2 and endpoint.requests == 2, (
            "the replies without usage were not counted as they had been"
        )
        return
    assert "$0.0200" in done.stdout and [end["cost_usd"] for end in bench.ends()] == [0.01] * 2
    again = bench.run("--jobs", "2", "--max-cost", "17", "--resume", ASSAY_ROOT=str(priced_root))
    assert again.returncode == 0, again.stderr
    assert endpoint.requests == 4 and "$0.0400" in again.stdout and "4 of 4" in again.stdout
