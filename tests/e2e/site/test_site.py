"""Tests `assay site` and `assay report --format html` with real stores in a real browser.

ASSAY_PAGE_PICTURES=DIRECTORY keeps a screenshot of each view.
"""

from __future__ import annotations

import csv
import io
import json
import os
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest
from conftest import Run
from large_site import make as make_large_site
from site_pages import (
    AGENT,
    MODEL,
    OPERATORS,
    RAISING,
    ROOT,
    Runs,
    attempts_of,
    build,
    fill,
    parts_of_folder,
    parts_of_page,
    visit,
    why_no_browser,
)

VIEWS = [
    "leaderboard",
    "comparison",
    "cost",
    "failures",
    "operators",
    "operator/0/vector_add",
    "fast-p",
    "progress",
    "runs",
    "submissions",
    "submission/0",
    "compare?a=0&b=1",
    "dataset",
    "workflows",
    "method",
    "cite",
    "configuration/0",
    "nothing/here",
]
MOST_BUNDLE_BYTES = 300_000  # compressed


@pytest.fixture(scope="module")
def filled(binary: str, tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Runs]:
    build()
    store = tmp_path_factory.mktemp("site") / "s.db"
    return store, fill(binary, store)


@pytest.fixture(scope="module")
def site(binary: str, filled: tuple[Path, Runs]) -> Path:
    out = filled[0].parent / "out"
    environment = {**os.environ, "ASSAY_STATE_DIR": str(filled[0].parent / "state")}
    command = [binary, "site", "--out", str(out), "--title", RAISING, str(filled[0])]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, env=environment)
    assert done.returncode == 0, done.stderr
    assert "7 runs, 4 lines of the leaderboard, 28 attempts" in done.stdout
    return out


@pytest.fixture(scope="module")
def seen(site: Path) -> dict[str, Any]:
    missing = why_no_browser()
    if missing:
        pytest.skip(missing)
    pictures = os.environ.get("ASSAY_PAGE_PICTURES")
    if pictures:
        Path(pictures).mkdir(parents=True, exist_ok=True)
    return visit("tests/node/site_facts.mjs", site / "index.html", pictures, views=VIEWS)


def test_the_data_says_what_happened(site: Path) -> None:
    parts = parts_of_folder(site)
    index = parts["index"]
    assert index["format"] == "assay.site/1" and index["title"] == RAISING
    assert [group["report"]["run"]["agent"] for group in index["groups"]] == [
        AGENT,
        "geak",
        "one_shot",
        "untimed",
    ]
    assert [group["unranked"] for group in index["groups"]] == [[], [], [], ["no_model"]]
    assert index["groups"][0]["difference"] is None
    assert index["groups"][1]["difference"]["base"] == 0
    attempts = attempts_of(parts)
    first = next(each for each in attempts if each["perf"] == 2)
    assert first["label"] == "pass" and first["lines"] == 5
    details = parts[f"details-{first['details_part']}"][first["details_entry"]]
    assert RAISING in details["sources"][0]["text"] and details["graded"] == first["job"]
    names = {operator["name"] for operator in index["suites"][0]["operators"]}
    assert names == set(OPERATORS)
    assert all("oracle" not in spec and spec["hidden_cases"] > 0 for spec in parts["specs-0"])


def test_nothing_is_loaded_said_or_injected(seen: dict[str, Any]) -> None:
    for name, look in seen["looks"].items():
        for view, facts in look.items():
            assert (facts["heard"], facts["injected"]) == ([], None), (name, view)
            assert not set(facts["elements"]) & {"script", "img", "iframe", "object"}, (name, view)
            assert RAISING in facts["title"], "the title is text"
    assert seen["visitor"]["heard"] == []
    desktop = seen["looks"]["desktop"]
    assert RAISING in desktop["submission/0"]["text"]
    words = " ".join(desktop["configuration/0"]["text"].split())
    assert AGENT in words and MODEL in words, "in full, as text"


def test_nothing_is_wider_than_the_screen(seen: dict[str, Any]) -> None:
    for name, look in seen["looks"].items():
        for view, facts in look.items():
            assert facts["scrollWidth"] <= facts["width"], (name, view)
            assert facts["unnamedScrollers"] == 0, (name, view)
    assert seen["looks"]["print"]["leaderboard"]["paper"] == "rgb(255, 255, 255)"


def test_axe_finds_nothing_serious(seen: dict[str, Any]) -> None:
    assert seen["axe"] == {}


def test_tables_have_names_and_can_be_downloaded(seen: dict[str, Any]) -> None:
    for view, facts in seen["looks"]["desktop"].items():
        for table in facts["tables"]:
            assert table["unscoped"] == 0, (view, table)
            if table["id"]:
                assert table["name"] and table["downloads"] >= 2, (view, table)


def test_charts_are_drawn_and_described(seen: dict[str, Any]) -> None:
    charts = {view: facts["charts"] for view, facts in seen["looks"]["desktop"].items()}
    assert [text.split(":")[0] for text in charts["comparison"]] == ["Pass@1", "Perf@1", "pass@k"]
    assert "58.3 %" in charts["comparison"][0]
    assert len(charts["failures"]) == 2 and len(charts["cost"]) == 1
    assert len(charts["fast-p"]) == 1 and len(charts["progress"]) == 2


def test_ranks_are_classes_and_no_row_is_lost_by_sorting(seen: dict[str, Any]) -> None:
    visitor = seen["visitor"]
    assert visitor["models"][0] == "openai:m" and visitor["models"][-1] == "sim:7 (no model)"
    assert visitor["ranks"] == ["1", "1", "1", "\u2013"], (
        "the intervals overlap, and one has no model"
    )
    again = visitor["sortedAgain"]
    assert again["sort"] == "ascending"
    assert again["models"] == [*reversed(visitor["models"][:3]), visitor["models"][3]]


def test_a_link_shows_the_same_view_in_a_new_page(seen: dict[str, Any]) -> None:
    visitor = seen["visitor"]
    assert "split=standard" in visitor["split"]["url"]
    assert "leaderboard.sort=pass_at_1" in visitor["split"]["url"]
    assert visitor["linked"] == visitor["split"]["text"]
    assert "split=standard" in visitor["keptSplit"], "another view keeps the tab"
    assert visitor["operatorPage"].startswith(("gelu_tanh", "softmax", "vector_add"))


def test_two_attempts_are_compared(seen: dict[str, Any]) -> None:
    compared = seen["visitor"]["compared"]
    assert "The attempts are for different operators" in compared or "1:" in compared
    assert "Sources: 2 lines differ" in compared
    assert "- # fake: perf=" in compared and "+ # fake: " in compared


def test_p_of_fast_p_moves(seen: dict[str, Any]) -> None:
    visitor = seen["visitor"]
    geak = next(row for row in visitor["fast"] if "geak" in row)
    lower = next(row for row in visitor["fastLower"] if "geak" in row)
    assert "50.0 %" in geak and "75.0 %" in lower


def test_downloads_are_csv_and_json(seen: dict[str, Any]) -> None:
    saved = sorted(seen["visitor"]["saved"], key=lambda text: text[0] == "[")
    rows = list(csv.DictReader(io.StringIO(saved[0])))
    assert [row["rank"] for row in rows] == ["1", "1", "1", ""]
    assert rows[0]["model"] == "openai:m" and float(rows[0]["pass_at_1"]) == pytest.approx(7 / 12)
    assert float(rows[0]["pass_at_1_low"]) < 7 / 12 < float(rows[0]["pass_at_1_high"])
    documents = json.loads(saved[1])
    assert [each["model"] for each in documents] == [row["model"] for row in rows]


def test_the_keyboard_reaches_the_content(seen: dict[str, Any]) -> None:
    assert seen["visitor"]["firstFocus"] == "Skip to content"
    assert seen["visitor"]["skipped"] == "main"


def test_a_report_is_the_same_pages_in_one_file(
    assay: Run, filled: tuple[Path, Runs], tmp_path: Path
) -> None:
    store, runs = filled
    words = [word for samples in runs.values() for run in samples for word in ("--run", run)]
    done = assay("report", "--store", str(store), "--format", "html", *words)
    assert done.returncode == 0, done.stderr
    parts = parts_of_page(done.stdout)
    assert parts["index"]["title"] == "4 agents or models compared"
    assert len(attempts_of(parts)) == 28
    assert done.stdout.count("</script>") == 2, "no data ends a script element"
    if why_no_browser():
        return
    page = tmp_path / "page.html"
    page.write_text(done.stdout, encoding="utf-8")
    facts = visit("tests/node/site_facts.mjs", page, None, views=["leaderboard", "submission/0"])
    for look in facts["looks"].values():
        for view in look.values():
            assert (view["heard"], view["injected"]) == ([], None)
    assert "58.3 %" in facts["looks"]["desktop"]["leaderboard"]["text"]
    assert facts["axe"] == {}


def test_a_site_is_written_again_but_other_files_are_kept(
    assay: Run, filled: tuple[Path, Runs], tmp_path: Path
) -> None:
    store = str(filled[0])
    out = tmp_path / "out"
    assert assay("site", "--out", str(out), store).returncode == 0
    (out / "data/details-99.js").write_text("old")
    assert assay("site", "--out", str(out), store).returncode == 0
    assert not (out / "data/details-99.js").exists()
    mine = tmp_path / "mine"
    mine.mkdir()
    (mine / "letter").write_text("dear")
    refused = assay("site", "--out", str(mine), store)
    assert refused.returncode == 64 and "not of a site" in refused.stderr
    missing = assay("site", "--out", str(tmp_path / "x"), str(tmp_path / "none.db"))
    assert missing.returncode == 66 and "there is no store" in missing.stderr
    assert assay("site", store).returncode == 64, "--out is missing"


def test_several_stores_are_one_site(binary: str, assay: Run, tmp_path: Path) -> None:
    build()
    stores = [tmp_path / "a.db", tmp_path / "b.db"]
    for store in stores:
        fill(binary, store)
    out = tmp_path / "out"
    done = assay("site", "--out", str(out), *map(str, stores))
    assert done.returncode == 0, done.stderr
    index = parts_of_folder(out)["index"]
    assert len(index["groups"]) == 4, "the runs of both stores are samples of the same agents"
    assert {sample["store"] for sample in index["groups"][0]["samples"]} == {0, 1}


def test_without_the_bundle_the_message_says_how_to_build_it(
    binary: str, filled: tuple[Path, Runs], tmp_path: Path
) -> None:
    root = tmp_path / "root"
    root.mkdir()
    for part in ("operators", "sandbox"):
        (root / part).symlink_to(ROOT / part)
    environment = {
        **os.environ,
        "ASSAY_ROOT": str(root),
        "ASSAY_STATE_DIR": str(tmp_path / "state"),
    }
    for words in (["site", "--out", str(tmp_path / "x"), str(filled[0])],):
        done = subprocess.run([binary, *words], capture_output=True, text=True, env=environment)
        assert done.returncode == 69
        assert "site/build.sh" in done.stderr and "Node.js" in done.stderr
    table = [binary, "report", "--store", str(filled[0])]
    assert subprocess.run(table, capture_output=True, env=environment).returncode == 0
    node = subprocess.run(
        [str(ROOT / "site/build.sh")],
        env={"PATH": str(bin_without_node(tmp_path))},
        capture_output=True,
        text=True,
    )
    assert node.returncode == 69 and "npm is missing" in node.stderr


def bin_without_node(folder: Path) -> Path:
    """Returns a folder for PATH that has the programs of site/build.sh except npm and node."""
    target = folder / "bin"
    target.mkdir()
    for program in ("bash", "dirname", "env", "mkdir"):
        found = shutil.which(program)
        assert found is not None
        (target / program).symlink_to(found)
    return target


def test_a_large_site_is_paged(tmp_path: Path) -> None:
    if missing := why_no_browser():
        pytest.skip(missing)
    build()
    lines, samples = 61, 5
    total = make_large_site(tmp_path / "large", lines, samples)
    assert total == lines * samples * 164 > 50_000
    views = ["leaderboard", "submissions", "submissions?submissions.page=501"]
    views += ["submissions?group=3&submissions.sort=-perf", "submissions?submissions.page=502"]
    index = tmp_path / "large/index.html"
    seen = list(visit("tests/node/site_times.mjs", index, None, views=views).values())
    assert [each["rows"] for each in seen] == [lines, 100, 20, 100, 100]
    assert seen[1]["caption"] == f"{total} attempts"
    assert seen[3]["caption"] == f"{samples * 164} of {total} attempts"
    assert seen[1]["first"].split()[0] == "#0" and seen[2]["first"].split()[0] == "#50000"
    assert seen[4]["first"].split()[0] == "#0", "there is no page 502"


def test_the_bundle_is_small_and_its_types_are_right(tmp_path: Path) -> None:
    build()
    subprocess.run([str(ROOT / "site/build.sh"), "--check"], check=True, timeout=120)
    for name in ("site.js", "page.html"):
        packed = subprocess.run(
            ["gzip", "-9", "-c", str(ROOT / "site/dist" / name)], capture_output=True, check=True
        )
        assert len(packed.stdout) < MOST_BUNDLE_BYTES
    sources = [path.read_text() for path in (ROOT / "site/src").rglob("*.ts")]
    assert sources and not any(
        word in text
        for text in sources
        for word in ("innerHTML", "outerHTML", "insertAdjacentHTML", "eval(", "document.write")
    )
