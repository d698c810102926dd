"""Tests `assay report --format html` with real pages of real runs in a real browser.

ASSAY_PAGE_PICTURES=DIRECTORY keeps screenshots and a PDF of each page.
"""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from page_browser import Look, install, why_no_browser
from stdio_client import StdioClient

PHONE_WIDTH = 360
READABLE_PX = 11  # the minimum size of text
READABLE_CONTRAST = 4.5  # WCAG 2.2, AA
LOOKS = ["phone", "phone dark", "desktop", "dark", "print"]

# Long names with markup, as a hostile client could choose them.
AGENT = "<script>window.injected=1</script>\"'&amp; äöü 漢字 " + "x" * 120
MODEL = "openai:<img src=x onerror=\"window.injected=1\"> & 'co' " + "W" * 100
RAISING = """import triton
raise ValueError('</td></table><script>window.injected=1</script><svg onload="window.injected=1">' + 'y' * 300)
"""
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

Report = Callable[..., Path]
Runs = dict[str, list[str]]


class Page:
    def __init__(self, policy: list[str], looks: dict[str, Look]) -> None:
        self.policy = policy
        self.looks = looks

    def words(self) -> str:
        return str(self.looks["desktop"]["text"]).replace("\xa0", " ")

    def plots(self) -> dict[str, dict[str, Any]]:
        return {plot["heading"]: plot for plot in self.looks["desktop"]["plots"]}


@pytest.fixture(scope="session")
def show() -> Callable[[str, str], Page]:
    """Returns a function: show(NAME, HTML) opens a page in the browser and measures it."""
    missing = why_no_browser()
    if missing:
        pytest.skip(missing)
    browser = install()
    pictures = os.environ.get("ASSAY_PAGE_PICTURES")

    def look(name: str, html: str, scratch: Path) -> Page:
        page = scratch / f"{name}.html"
        page.write_text(html)
        where = Path(pictures) / name if pictures else None
        if where:
            where.mkdir(parents=True, exist_ok=True)
        return Page(*browser.look_at(page, where))

    return look


def fill(binary: str, store: Path) -> Runs:
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
                submit(client, run, operator, f"# fake: {answer}\ndef f(x):\n    return x\n")
            if agent in DOLLARS:
                client.call(
                    "report_usage",
                    {
                        "run": run,
                        "input_tokens": 12345,
                        "output_tokens": 678,
                        "cost_usd": DOLLARS[agent],
                    },
                )
            runs[agent].append(run)
    client.close()
    return runs


def submit(client: StdioClient, run: str, operator: str, code: str) -> None:
    done = client.call("submit", {"run": run, "operator": operator, "code": code})[
        "structuredContent"
    ]
    while done.get("status") == "running":
        done = client.call("job", {"job": done["job"], "wait_s": 20})["structuredContent"]


def html_of(binary: str, store: Path, runs: list[str]) -> str:
    words = [word for run in runs for word in ("--run", run)]
    done = subprocess.run(
        [binary, "report", "--store", str(store), "--format", "html", *words],
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def filled(binary: str, tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Runs]:
    store = tmp_path_factory.mktemp("pages") / "s.db"
    return store, fill(binary, store)


@pytest.fixture(scope="module")
def one(
    binary: str, show: Any, filled: tuple[Path, Runs], tmp_path_factory: pytest.TempPathFactory
) -> Page:
    """Returns the page of one agent whose names contain hostile text."""
    page: Page = show(
        "one", html_of(binary, filled[0], filled[1][AGENT]), tmp_path_factory.mktemp("one")
    )
    return page


@pytest.fixture(scope="module")
def several(
    binary: str, show: Any, filled: tuple[Path, Runs], tmp_path_factory: pytest.TempPathFactory
) -> Page:
    """Returns the page that compares all agents."""
    runs = [run for samples in filled[1].values() for run in samples]
    page: Page = show(
        "several", html_of(binary, filled[0], runs), tmp_path_factory.mktemp("several")
    )
    return page


@pytest.fixture(scope="module")
def many(binary: str, show: Any, tmp_path_factory: pytest.TempPathFactory) -> Page:
    """Returns a page with more agents than a table has columns. The agents have similar results, so
    labels and marks in a plot could overlap."""
    scratch = tmp_path_factory.mktemp("many")
    client = StdioClient(
        [binary, "serve", "--stdio", "--device", "fake", "--store", str(scratch / "s.db")]
    )
    runs = []
    for index in range(10):
        request = {
            "agent": f"alphaevolve?rounds=40&islands={index}",
            "model": "openai:m-2026-01-01",
            "track": "one_shot",
            "suite": "vector_add,gelu_tanh",
        }
        runs.append(client.call("start_run", request)["structuredContent"]["run"])
        submit(client, runs[-1], "vector_add", f"# fake: perf={1 + index % 3}\n")
        client.call(
            "report_usage",
            {
                "run": runs[-1],
                "input_tokens": 1,
                "output_tokens": 1,
                "cost_usd": 1 + index % 2 / 100,
            },
        )
    client.close()
    page: Page = show("many", html_of(binary, scratch / "s.db", runs), scratch)
    return page


@pytest.fixture(scope="module")
def bench(binary: str, show: Any, tmp_path_factory: pytest.TempPathFactory) -> Page:
    """Returns the page of a bench with real submissions, without a model and without a GPU. One
    submission raises an error whose text is markup."""
    scratch = tmp_path_factory.mktemp("bench")
    store = scratch / "s.db"
    environment = {**os.environ, "ASSAY_STATE_DIR": str(scratch / "state")}
    arguments = ["--model", "sim:7", "--operators", "vector_add,clamped_affine_scan", "--jobs", "2"]
    command = [binary, "bench", *arguments, "--store", str(store), "--out", str(scratch / "out")]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300, env=environment)
    assert done.returncode == 0, done.stderr
    document = subprocess.run(
        [binary, "report", "--store", str(store), "--format", "json"],
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    model = json.loads(document)["run"]["model"]
    client = StdioClient(
        [binary, "serve", "--stdio", "--device", "cpu", "--store", str(store)], env=environment
    )
    request = {
        "agent": "one_shot",
        "model": model,
        "track": "one_shot",
        "suite": "vector_add,clamped_affine_scan",
    }
    run = client.call("start_run", request)["structuredContent"]["run"]
    submit(client, run, "vector_add", RAISING)
    client.close()
    page: Page = show(
        "bench", html_of(binary, store, [json.loads(document)["run"]["handle"], run]), scratch
    )
    return page


@pytest.fixture(params=["one", "several", "many", "bench"])
def page(request: pytest.FixtureRequest) -> Page:
    found: Page = request.getfixturevalue(request.param)
    return found


def test_a_page_loads_prints_and_runs_nothing(page: Page) -> None:
    assert page.policy == []
    assert list(page.looks) == LOOKS
    for look in page.looks.values():
        assert (
            look["requests"],
            look["console"],
            look["errors"],
            look["dialogs"],
            look["injected"],
        ) == ([], [], [], [], None)
        assert not set(look["elements"]) & {
            "script",
            "img",
            "iframe",
            "object",
            "link",
            "form",
            "a",
        }


def test_nothing_overlaps_or_runs_over(page: Page) -> None:
    for name, look in page.looks.items():
        assert look["scrollWidth"] <= look["width"], name
        assert look["overlapping"] == [] and look["cut"] == [], name
        assert [plot["heading"] for plot in look["plots"] if plot["outside"]] == [], name
    assert page.looks["phone"]["width"] == PHONE_WIDTH


def test_on_paper_nothing_is_left_in_a_scroll_box(page: Page) -> None:
    paper = page.looks["print"]
    assert paper["scrollers"] == []
    assert paper["paper"] == "rgb(255, 255, 255)", (
        "also from a dark screen: printers leave backgrounds out"
    )
    assert [plot["heading"] for plot in paper["plots"]] == [
        plot["heading"] for plot in page.looks["desktop"]["plots"]
    ]
    for word in page.words().split():
        assert word in paper["text"], f"{word} is not on paper"


def test_what_scrolls_on_a_phone_has_a_name_and_takes_the_keyboard(page: Page) -> None:
    scrollers = page.looks["phone"]["scrollers"]
    assert scrollers and all(scroller["focusable"] and scroller["name"] for scroller in scrollers)


def test_text_is_large_and_dark_enough(page: Page) -> None:
    for name, look in page.looks.items():
        assert look["smallestFont"][0] >= READABLE_PX, (name, look["smallestFont"])
        assert look["lowestContrast"][0] >= READABLE_CONTRAST, (name, look["lowestContrast"])


def test_structure_for_screen_readers(page: Page) -> None:
    look = page.looks["desktop"]
    assert look["language"] == "en" and look["title"]
    assert [level for level, _ in look["headings"]].count("h1") == 1
    for table in look["tables"]:
        assert (
            table["caption"]
            and table["headers"]
            and not table["unscoped"]
            and not table["rowsWithoutHeader"]
        ), table
    for plot in look["plots"]:
        assert (
            plot["role"] == "img"
            and plot["name"].startswith(plot["heading"] + ": ")
            and len(plot["name"]) > len(plot["heading"]) + 3
        )


def test_every_plot_has_marks_and_labels(page: Page) -> None:
    for name, look in page.looks.items():
        for plot in look["plots"]:
            assert plot["width"] > 200, (name, plot["heading"])
            drawn = any(mark["width"] > 0 and mark["height"] > 0 for mark in plot["marks"])
            assert drawn or set(plot["labels"][1::2]) == {"0.0 %"}, (name, plot["heading"])
            assert len(plot["labels"]) >= 2 and all(label.strip() for label in plot["labels"]), (
                name,
                plot["heading"],
            )


def test_plots_of_one_agent(one: Page) -> None:
    plots = one.plots()
    assert list(plots) == [
        "Pass@1",
        "Perf@1: oracle latency / submission latency (dashed: as fast as the oracle)",
        "fast_p: right, and more than p times as fast",
        "pass@k over 2 samples",
        "Errors, by TritonBench's groups",
        "Pass@1 by difficulty",
    ]
    assert plots["Pass@1"]["labels"] == ["all", "37.5 %", "ood", "0.0 %", "standard", "50.0 %"]
    assert [mark["kind"] for mark in plots["pass@k over 2 samples"]["marks"]].count("dot") == 4
    words = one.words()
    assert AGENT in " ".join(words.split()) and MODEL in words, "in full, as text"
    assert "$0.2000" in words and "24,690 in, 1,356 out" in words


def test_plots_of_several_agents(several: Page) -> None:
    plots = several.plots()
    assert list(plots) == [
        "Pass@1",
        "Perf@1: oracle latency / submission latency (dashed: as fast as the oracle)",
        "pass@k (right)",
        "fast_p: right, and more than p times as fast as the oracle",
        "Pass@1 against cost",
    ]
    kinds = {heading: [mark["kind"] for mark in plot["marks"]] for heading, plot in plots.items()}
    assert kinds["Pass@1"].count("bar") == 4 and list(kinds.values())[1].count("bar") == 3
    assert (
        kinds["pass@k (right)"].count("curve") == 4
        and kinds["pass@k (right)"].count("dot") == 2 + 3 + 1 + 1
    )
    assert kinds["Pass@1 against cost"].count("dot") == 3
    assert (
        "2: geak, openai:m" in plots["Pass@1"]["labels"] and "58.3 %" in plots["Pass@1"]["labels"]
    )
    words = several.words()
    assert "Without Perf@1: 4: nothing was timed on device fake." in words
    assert "Without a known cost: 4" in words and "4: No model answered" in words
    assert AGENT in " ".join(words.split()) and MODEL in words


def test_what_a_submission_raised_is_text(bench: Page) -> None:
    words = bench.words()
    assert "ValueError: </td></table><script>window.injected=1</script>" in words
    assert "No model answered" in words and "Not drawn: nothing was timed on device cpu." in words
    assert list(bench.plots()) == [
        "Pass@1",
        "pass@k over 2 samples",
        "Errors, by TritonBench's groups",
        "Pass@1 by difficulty",
    ]
