"""Tests the measurement of an import's time with a stand-in for `assay`."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent.parent
SCRIPT = ROOT / "measurements/suites/import_time.py"
FILES: list[dict[str, Any]] = [
    {
        "file": "a.py",
        "operators": [{"name": "a"}, {"name": "a_2"}],
        "seconds": 2.5,
        "reason": "",
        "kind": "",
    },
    {
        "file": "b.py",
        "operators": [],
        "seconds": 1.0,
        "reason": "compilation_error, line 3: no",
        "kind": "compilation_error",
        "left_out": [],
    },
]


def measured(tmp_path: Path, status: int, *more: str) -> subprocess.CompletedProcess[str]:
    binary = tmp_path / "assay"
    binary.write_text(f"""#!{sys.executable}
import json, pathlib, sys
assert sys.argv[1:3] == ["import", "tritonbench-g"]
folder = pathlib.Path(sys.argv[3])
(pathlib.Path({str(tmp_path)!r}) / "seen").write_text(" ".join(sorted(x.name for x in folder.glob("*"))))
for usage in pathlib.Path({str(tmp_path)!r}).glob("group/*usage"):
    usage.write_text("4500000000")
suite = pathlib.Path(sys.argv[sys.argv.index("--out") + 1])
suite.mkdir()
(suite / "import.json").write_text(json.dumps({{"files": {FILES!r}}}))
sys.exit("no jail" if {status} else 0)
""")
    binary.chmod(0o755)
    golden = tmp_path / "golden"
    golden.mkdir()
    for name in "abcde":
        (golden / f"{name}.py").write_text("")
    command = [sys.executable, str(SCRIPT), "tritonbench-g", str(golden), "--jobs", "3", *more]
    command += ["--binary", str(binary), "--out", str(tmp_path / "result.json")]
    return subprocess.run(command, capture_output=True, text=True)


def test_the_result_has_seconds_and_reasons(tmp_path: Path) -> None:
    done = measured(tmp_path, 0)
    assert "2 operators of 1 of 2 files" in done.stdout, done.stderr
    result = json.loads((tmp_path / "result.json").read_text())
    assert (result["files"], result["files_with_operators"], result["operators"]) == (2, 1, 2)
    assert result["refused"] == {"b.py": "compilation_error, line 3: no"}
    assert result["seconds_of_files"] == {"a.py": 2.5, "b.py": 1.0}
    assert result["jobs"] == 3 and result["seconds"] >= 0


def test_the_processor_time_of_a_sample_is_that_of_its_control_group(tmp_path: Path) -> None:
    group = tmp_path / "group"
    group.mkdir()
    (group / "cpuacct.usage").write_text("2000000000")
    done = measured(tmp_path, 0, "--sample", "3", "--cpu-group", str(group))
    assert done.returncode == 0, done.stderr
    result = json.loads((tmp_path / "result.json").read_text())
    assert (result["cpu_seconds"], result["sample_of"]) == (2.5, 5)
    assert len((tmp_path / "seen").read_text().split()) == 3
    assert int((group / "cgroup.procs").read_text()) > 0


def test_a_failed_import_has_no_result(tmp_path: Path) -> None:
    done = measured(tmp_path, 1)
    assert done.returncode != 0 and "the import ended with status 1: no jail" in done.stderr
    assert not (tmp_path / "result.json").exists()
