"""Tests the table of imported suites: what is judged, what a later run adds, and what the page
says."""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT / "measurements/suites"))

from suites_causes import causes, runs, sample  # noqa: E402
from suites_merge import merged  # noqa: E402
from suites_page import page, row_of, wrong_of  # noqa: E402
from suites_record import SAME_CLASS, Suite, refusal_of, submission_of, suite_of  # noqa: E402
from suites_run import Run, within  # noqa: E402
from suites_table import Step, do_all, earlier, steps_of, with_earlier  # noqa: E402

SCRIPT = ROOT / "measurements/suites/suites_table.py"


def suite_folder(tmp_path: Path, name: str = "benchmark") -> Path:
    """Writes a suite with an operator that has an oracle, one that has a reference in PyTorch, and
    a file without operators."""
    folder = tmp_path / name
    files = [
        {"file": "a.py", "kind": "", "reason": "", "operators": [{"name": "add", "cases": 2}]},
        {"file": "b.py", "kind": "", "reason": "", "operators": [{"name": "relu", "cases": 1}]},
        {"file": "c.py", "kind": "crash", "reason": "crash: why", "operators": []},
    ]
    for operator, baseline in (("add", "oracle"), ("relu", "torch_eager")):
        (folder / "standard" / operator).mkdir(parents=True)
        spec = f'baseline = "{baseline}"\n'
        for visibility, extent in (("public", 8), ("hidden", 8 if operator == "add" else 7)):
            spec += f'[[cases]]\nvisibility = "{visibility}"\naxes = {{ n = {extent} }}\n'
        (folder / "standard" / operator / "spec.toml").write_text(spec)
    (folder / "standard/add/oracle.py").write_text("def add(x): ...\n")
    (folder / "standard/relu/reference.py").write_text(
        "import torch\n\n\ndef relu(x):\n    return torch.relu(x)\n\n\n"
        "from harness.imported.drawn import Drawn  # noqa\n\nreference = relu\n"
    )
    (folder / "import.json").write_text(json.dumps({"files": files}))
    (folder / "suite.toml").write_text(f'name = "{name}"\nversion = "1234"\n')
    return folder


def verdict(operator: str, kind: str, tier: str) -> dict[str, Any]:
    return {"operator": operator, "error_kind": kind, "tier": tier}


def lint(operator: str, sound: bool) -> dict[str, Any]:
    return {"operator": operator, "sound": sound, "undecided": ""}


def test_the_oracle_is_judged_or_the_reference(tmp_path: Path) -> None:
    folder = suite_folder(tmp_path) / "standard"
    assert submission_of(folder / "add") == "def add(x): ...\n"
    reference = submission_of(folder / "relu")
    assert "torch.relu" in reference and "harness" not in reference and "reference" not in reference
    (folder / "relu/problem.py").write_text("class Model: ...")
    assert submission_of(folder / "relu") == "class Model: ..." + SAME_CLASS


def test_a_file_whose_calls_were_all_left_out_says_so() -> None:
    file = {"file": "a.py", "kind": "", "tier": "plan", "reason": "", "left_out": ["f: float8"]}
    assert refusal_of(file) == {"file": "a.py", "kind": "left_out", "why": "f: float8"}
    path = {**file, "reason": "/tmp/import-1/suite/standard/a/spec.toml:5: why"}
    assert refusal_of(path)["why"] == "standard/a/spec.toml:5: why"
    crash = {"file": "b.py", "kind": "crash", "reason": "crash: why"}
    assert refusal_of(crash) == {"file": "b.py", "kind": "crash", "why": "crash: why"}


def test_right_outputs_count_in_their_tier(tmp_path: Path) -> None:
    record = suite_of(suite_folder(tmp_path)).record
    record["verdicts"] = [verdict("add", "none", "plan"), verdict("relu", "unattributed", "host")]
    record["lint"] = [lint("add", True), lint("relu", False)]
    row = row_of(record)
    assert (row["files"], row["used"], row["operators"]) == (3, 2, 2)
    assert (row["plan"], row["host"], row["neither"], row["right"]) == (1, 1, 0, 2)
    assert (row["linted"], row["sound"]) == (2, 1)


def test_an_oracle_without_own_work_is_not_right(tmp_path: Path) -> None:
    record = suite_of(suite_folder(tmp_path)).record
    record["verdicts"] = [verdict("add", "unattributed", "plan")]
    assert (row_of(record)["neither"], row_of(record)["right"]) == (1, 0)


def test_trouble_of_the_server_is_no_verdict(tmp_path: Path) -> None:
    record = suite_of(suite_folder(tmp_path)).record
    record["verdicts"] = [verdict("add", "device_unhealthy", "none")]
    assert row_of(record)["judged"] == 0


def test_results_name_no_path_of_the_machine(tmp_path: Path) -> None:
    suite = suite_of(suite_folder(tmp_path))
    text = f"add, cases: {suite.folder}/standard/add/spec.toml:3: why"
    assert within(suite, text) == "add, cases: standard/add/spec.toml:3: why"


def test_a_later_run_goes_on(tmp_path: Path) -> None:
    folder, out = suite_folder(tmp_path), tmp_path / "result.json"
    result = earlier(out, "cpu")
    (suite,) = with_earlier([folder], result)
    suite.record["verdicts"] = [verdict("add", "none", "interpreter")]
    out.write_text(json.dumps(result))
    (again,) = with_earlier([folder], earlier(out, "cpu"))
    assert again.missing("verdicts") == ["relu"]
    (folder / "standard/add/oracle.py").write_text("def add(x): ...  # anew\n")
    text = (folder / "import.json").read_text()
    (folder / "import.json").write_text(text + "\n")
    result = earlier(out, "cpu")
    (anew,) = with_earlier([folder], result)
    assert anew.record["verdicts"] == [] and len(result["suites"]) == 1
    with pytest.raises(SystemExit, match="is of device cpu"):
        earlier(out, "cuda:0")


def test_trouble_of_the_server_is_judged_again(tmp_path: Path) -> None:
    folder, out = suite_folder(tmp_path), tmp_path / "result.json"
    result = earlier(out, "cpu")
    (suite,) = with_earlier([folder], result)
    suite.record["verdicts"] = [
        verdict("add", "internal_error", "none"),
        verdict("relu", "unattributed", "host"),
    ]
    suite.record["lint"] = [lint("add", True), lint("relu", False) | {"undecided": "no memory"}]
    out.write_text(json.dumps(result))
    (again,) = with_earlier([folder], earlier(out, "cpu"))
    assert (again.missing("verdicts"), again.missing("lint")) == (["add"], ["relu"])


def test_suites_need_different_names(tmp_path: Path) -> None:
    folder = suite_folder(tmp_path)
    with pytest.raises(SystemExit, match="two suites have the name benchmark"):
        with_earlier([folder, folder], earlier(tmp_path / "result.json", "cpu"))


def test_a_folder_without_an_import_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(SystemExit, match="is not a suite"):
        suite_of(tmp_path)


def test_the_page_says_what_was_not_run(tmp_path: Path) -> None:
    result = earlier(tmp_path / "result.json", "cpu")
    (suite,) = with_earlier([suite_folder(tmp_path)], result)
    suite.record["verdicts"] = [verdict("add", "wrong_result", "interpreter")]
    about = {"gpu": "", "cores": 2, "torch": "2.13.0", "triton": "3.6.0"}
    result["runs"] = [{"environment": about, "wall_s": 3.0}]
    text = page(result)
    row = "| `benchmark` 1234 | 3 | 2 | 2 | 1 | its kernels and its PyTorch | 0 | 0 | 0 | 1 | 0 of 1 | - |"
    assert row in text
    assert "| `benchmark` 1234 | `crash` 1 | `wrong_result` 1 | - |" in text
    assert "1 operator without a verdict, 2 operators without a result of lint." in text


def test_levels_have_rows_and_lint_without_a_gpu_a_column(tmp_path: Path) -> None:
    folder = suite_folder(tmp_path)
    text = (folder / "import.json").read_text()
    for old, new in (("a.py", "level1_a.py"), ("b.py", "level2_b.py"), ("c.py", "level2_c.py")):
        text = text.replace(f'"{old}"', f'"{new}"')
    (folder / "import.json").write_text(text)
    results = []
    for device, sound in (("cuda:0", True), ("cpu", False)):
        result = earlier(tmp_path / "result.json", device)
        (suite,) = with_earlier([folder], result)
        suite.record["verdicts"] = [verdict("add", "none", "plan")]
        suite.record["lint"] = [lint("add", sound)]
        about = {"gpu": "H200, 1", "cores": 2, "torch": "2.13.0", "triton": "3.6.0"}
        result["runs"] = [{"environment": about, "wall_s": 3.0}]
        results.append(result)
    written = page(*results)
    assert (
        "| `benchmark` level 1 1234 | 1 | 1 | 1 | 0 | its kernels | 1 | 0 | 0 | 0 | 1 of 1 | "
        "1 of 1 | 0 of 1 |"
    ) in written
    assert (
        "| `benchmark` level 2 1234 | 2 | 1 | 1 | 1 | its PyTorch | - | - | - | - | - | - | - |"
        in written
    )
    assert "| `benchmark` level 1 1234 | - | - | `add` |" in written


def test_steps_run_at_once_and_in_their_order(tmp_path: Path) -> None:
    """Two steps of three meet, and the third one begins after one of them."""
    options = argparse.Namespace(seconds=600.0, at_once=2, part=(1, 1))
    run = Run(options, 0)
    meet, done = threading.Barrier(2, timeout=60), []
    suites = [suite_of(suite_folder(tmp_path, name)) for name in ("a", "b", "c")]

    def step(suite: Suite, end: float) -> None:
        assert end <= run.end
        if suite is not suites[2]:
            meet.wait()

    steps = [Step(step, suite, 1.0) for suite in suites]
    do_all(run, steps, 2, lambda suite: done.append(suite.record["name"]))
    assert sorted(done) == ["a", "b", "c"]


def test_a_step_that_wants_to_be_alone_is(tmp_path: Path) -> None:
    run = Run(argparse.Namespace(seconds=600.0, at_once=2, part=(1, 1)), 0)
    suite = suite_of(suite_folder(tmp_path))
    lock, running, most = threading.Lock(), [0], []
    pair = threading.Barrier(2, timeout=60)

    def step(alone: bool) -> Step:
        def do(_: Suite, __: float) -> None:
            with lock:
                running[0] += 1
            if not alone:
                pair.wait()  # of two steps that run at once
            with lock:
                most.append((alone, running[0]))
            if not alone:
                pair.wait()
            with lock:
                running[0] -= 1

        return Step(do, suite, 1.0, alone)

    do_all(run, [step(False), step(False), step(True), step(False), step(False)], 2, lambda _: None)
    assert most == [(False, 2), (False, 2), (True, 1), (False, 2), (False, 2)]


def test_only_suites_of_the_host_tier_are_judged_alone(tmp_path: Path) -> None:
    for name, device, alone in (("a", "cuda:0", True), ("b", "cpu", False)):
        run = Run(argparse.Namespace(seconds=600.0, at_once=2, device=device, part=(1, 1)), 0)
        suites = [
            suite_of(suite_folder(tmp_path, name)),
            suite_of(suite_folder(tmp_path, f"t{name}")),
        ]
        for one in suites[1].record["operators"]:
            one["baseline"] = "torch_eager"
        assert [step.alone for step in steps_of(run, suites, ["judge"])] == [False, alone]


def test_the_page_names_causes_and_how_much_was_judged(tmp_path: Path) -> None:
    record = suite_of(suite_folder(tmp_path)).record
    assert sample([record], [1])[0].startswith("**1 of the 2 operators were judged**")
    assert sample([record], [2])[0] == "All 2 operators were judged."
    file = tmp_path / "causes.toml"
    file.write_text(
        '[[cause]]\nwhose = "benchmark"\ntext = "a race"\ndone = ""\n'
        'verdicts = ["s/a", "s/b", "s/c", "s/d"]\n'
    )
    assert causes({"s/a", "s/d"}, file)[2:] == ["| a race | benchmark | `s/a`, `s/d` | - |"]
    assert causes({"s/a", "s/b", "s/c", "s/d", "s/e"}, file)[2:] == [
        "| a race | benchmark | 4 of `s` | - |",
        "| nobody has looked | - | `s/e` | - |",
    ]
    assert causes(set(), file) == ["All that were judged are right."]
    assert causes(set(), file, "unsound") == ["All that were linted are sound."]
    assert causes({"s/a"}, file, "unsound")[2] == "| nobody has looked | - | `s/a` | - |"


def test_the_causes_are_those_of_the_committed_result() -> None:
    result = json.loads((ROOT / "measurements/results/suites-h200.json").read_text())
    assert "nobody has looked" not in "".join(causes(wrong_of(result["suites"])))


def test_a_failed_step_is_an_error(tmp_path: Path) -> None:
    def step(suite: Suite, end: float) -> None:
        raise ValueError(suite.record["name"])

    run = Run(argparse.Namespace(seconds=600.0, at_once=1, part=(1, 1)), 0)
    steps = [Step(step, suite_of(suite_folder(tmp_path)), 1.0)]
    with pytest.raises(ValueError, match="benchmark"):
        do_all(run, steps, 1, lambda _: None)


def test_the_command_measures_a_suite(tmp_path: Path) -> None:
    """Runs the script with a stand-in for `assay`, whose lint finds each operator sound, on a suite
    that has nothing to judge without a GPU."""
    folder, out = suite_folder(tmp_path), tmp_path / "result.json"
    (folder / "standard/add/spec.toml").write_text('baseline = "torch_eager"\n')
    binary = tmp_path / "assay"
    binary.write_text(f"""#!{sys.executable}
import json, sys
names = [name for name in ("add", "relu") if name in sys.argv]
about = {{"sound": True, "undecided": "", "failures": [], "mutants": 1, "killed": 1, "oracle": "",
          "checks_s": 0.1, "oracle_s": 0.0}}
with open(sys.argv[sys.argv.index("--out") + 1], "w") as stream:
    json.dump({{"operators": [about | {{"name": name}} for name in names]}}, stream)
""")
    binary.chmod(0o755)
    command = [sys.executable, str(SCRIPT), str(folder), "--binary", str(binary), "--jobs", "1"]
    command += [
        "--seconds",
        "600",
        "--at-once",
        "2",
        "--out",
        str(out),
        "--page",
        str(tmp_path / "page.md"),
    ]
    subprocess.run(command, check=True, env={**os.environ, "CUDA_VISIBLE_DEVICES": ""})
    (record,) = json.loads(out.read_text())["suites"]
    assert sorted(one["operator"] for one in record["lint"]) == ["add", "relu"]
    assert "| 2 of 2 |" in (tmp_path / "page.md").read_text()


def result_of(folder: Path, *verdicts: dict[str, Any], runs: int = 1) -> dict[str, Any]:
    """Returns a result whose verdicts are of its last run."""
    record = suite_of(folder).record
    record["verdicts"] = [one | {"run": runs - 1} for one in verdicts]
    about = {"gpu": "NVIDIA H200, 1 GiB", "cores": 1, "torch": "2", "triton": "3"}
    numbers = [{"wall_s": float(number), "environment": about} for number in range(runs)]
    return {"what": "", "device": "cuda:0", "runs": numbers, "suites": [record]}


def test_of_two_results_the_later_one_counts(tmp_path: Path) -> None:
    folder = suite_folder(tmp_path)
    first = result_of(
        folder, verdict("add", "wrong_result", "plan"), verdict("relu", "none", "host")
    )
    second = result_of(folder, verdict("add", "none", "plan"), runs=2)
    both = merged([second, first])
    assert len(both["runs"]) == 2
    found = {
        one["operator"]: (one["error_kind"], one["run"]) for one in both["suites"][0]["verdicts"]
    }
    assert found == {"add": ("none", 1), "relu": ("none", 0)}
    with pytest.raises(SystemExit, match="several devices: cpu, cuda:0"):
        merged([first, second | {"device": "cpu"}])


def test_trouble_replaces_no_verdict_when_results_are_combined(tmp_path: Path) -> None:
    folder = suite_folder(tmp_path)
    right = result_of(folder, verdict("add", "none", "plan"))
    trouble = result_of(folder, verdict("add", "internal_error", "none"))
    assert merged([right, trouble])["suites"][0]["verdicts"][0]["error_kind"] == "none"


def test_another_import_keeps_the_verdicts_of_operators_that_are_the_same(tmp_path: Path) -> None:
    folder = suite_folder(tmp_path)
    first = result_of(folder, verdict("add", "none", "plan"), verdict("relu", "none", "host"))
    (folder / "standard/relu/reference.py").write_text("# anew\n")
    text = (folder / "import.json").read_text()
    (folder / "import.json").write_text(text + "\n")
    (both,) = merged([first, result_of(folder)])["suites"]
    assert [one["operator"] for one in both["verdicts"]] == ["add"]


def test_what_was_not_right_is_judged_again_on_demand(tmp_path: Path) -> None:
    folder = suite_folder(tmp_path)
    result = result_of(
        folder, verdict("add", "wrong_result", "plan"), verdict("relu", "unattributed", "host")
    )
    (suite,) = with_earlier([folder], result, again=True)
    assert suite.missing("verdicts") == ["add"]


def test_parts_of_a_suite_are_disjoint_and_complete(tmp_path: Path) -> None:
    suite = suite_of(suite_folder(tmp_path))
    parts = []
    for number in (1, 2):
        options = argparse.Namespace(seconds=600.0, device="cuda:0", part=(number, 2))
        parts.append(Run(options, 0).to_judge(suite))
    assert sorted(parts[0] + parts[1]) == ["add", "relu"] and len(parts[0]) == 1
    wrong = subprocess.run(
        [sys.executable, str(SCRIPT), "x", "--part", "3/2", "--out", "y"],
        capture_output=True,
        text=True,
    )
    assert wrong.returncode == 2 and "'3/2' is not K/N with K from 1 to N" in wrong.stderr


def test_the_page_says_why_a_reference_passes(tmp_path: Path) -> None:
    hints = [{"kind": "unattributed_run", "case": "", "text": ""}]
    result = result_of(suite_folder(tmp_path), verdict("relu", "none", "host") | {"hints": hints})
    text = " ".join(page(result).split())
    assert "That run ended with an error for 1 of the 1" in text
    result["suites"][0]["verdicts"][0]["hints"] = None
    assert "Nobody has looked into the other 1." in " ".join(page(result).split())


def test_the_page_lists_runs_and_what_each_had_for_itself(tmp_path: Path) -> None:
    result = result_of(suite_folder(tmp_path), verdict("add", "none", "plan"), runs=2)
    assert runs([result])[2:] == [f"| `cuda:0` | - | 1 | - | {n} | {n} | 0 | - |" for n in (0, 1)]
    result["runs"][1] |= {"own_gpu": 3, "own_cores": 7}
    result["runs"][1]["environment"] = {
        "cores": 64,
        "revision": "a" * 40,
        "revision_note": "is old",
    }
    text = "\n".join(runs([result]))
    assert "| `cuda:0` | 3 | 7 of 64 | - | 1 | 1 | 0 | `aaaaaaaa` |" in text
    assert "The revision `aaaaaaaa` is old." in text and "went on at the same time" in text
