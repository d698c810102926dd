"""Makes a part of the example site again, and compares it with the committed data."""

from __future__ import annotations

from pathlib import Path

from example_site import AGENTS, DATA, OPERATORS, make, results_of
from site_pages import ROOT, build, parts_of_folder

MOST_BYTES = 1 << 20
AGAIN = ("vector_add",)


def test_the_committed_example_is_complete_and_shows_no_oracle() -> None:
    parts = parts_of_folder(DATA.parent)
    results = results_of(parts)
    wanted = {(agent, name, 1) for agent in (*AGENTS, "oracles") for name in OPERATORS}
    assert set(results) == wanted
    judged = {result for (agent, _, _), result in results.items() if agent == "oracles"}
    assert judged == {("pass", "interpreter"), ("needs a GPU", "none")}
    index = parts["index"]
    assert index["sources"] == "models"
    assert all("no_model" in group["unranked"] for group in index["groups"])
    details = [
        entry for part in range(index["details_parts"]) for entry in parts[f"details-{part}"]
    ]
    assert {source["text"] for entry in details for source in entry["sources"]} == {None}
    text = "".join(path.read_text() for path in DATA.iterdir())
    assert str(ROOT) not in text and str(Path.home()) not in text
    assert len(text.encode()) < MOST_BYTES


def test_the_data_of_the_example_can_be_made_again(binary: str, tmp_path: Path) -> None:
    build()
    made = make(binary, tmp_path / "site", ["one_shot"], AGAIN)
    committed = parts_of_folder(DATA.parent)
    known = results_of(committed)
    assert results_of(made) == {
        key: result
        for key, result in known.items()
        if key[0] in ("one_shot", "oracles") and key[1] in AGAIN
    }
    for key in ("format", "metrics", "attempt_columns"):
        assert made["index"][key] == committed["index"][key], "run tests/common/example_site.py"
    pairs = [(made["index"], committed["index"])]
    pairs.append((pairs[0][0]["groups"][0], pairs[0][1]["groups"][0]))
    pairs.append((made["details-0"][0], committed["details-0"][0]))
    pairs.append((pairs[2][0]["calls"][0], pairs[2][1]["calls"][0]))
    for new, old in pairs:
        assert set(new) == set(old), "run tests/common/example_site.py"
