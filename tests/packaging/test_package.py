"""Tests of the packages that need no empty system: what is installed, how the programs find it, the
configuration, and the helpers of ./run package. ./run package-test installs the real packages."""

from __future__ import annotations

import importlib.util
import json
import os
import re
import shutil
import subprocess
import sys
import sysconfig
from pathlib import Path
from types import ModuleType

import pytest

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

ROOT = Path(__file__).resolve().parent.parent.parent
BUILD = ROOT / "build/release"
BAD_CONFIG = 78


def module_of(path: str) -> ModuleType:
    spec = importlib.util.spec_from_file_location(Path(path).stem, ROOT / path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def run(program: Path, *words: str, home: Path, **more: str) -> subprocess.CompletedProcess[str]:
    """Runs the program without any setting of this machine."""
    environment = {"PATH": os.environ["PATH"], "HOME": str(home), **more}
    return subprocess.run(
        [program, *words], cwd=home, env=environment, capture_output=True, text=True, timeout=60
    )


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    prefix = tmp_path_factory.mktemp("installed") / "assay"
    subprocess.run(
        ["cmake", "--install", BUILD, "--prefix", prefix, "--component", "assay"],
        check=True,
        capture_output=True,
    )
    return prefix


def test_an_installed_folder_has_every_part_and_no_source_of_the_programs(installed: Path) -> None:
    for part in (
        "bin/assay",
        "bin/assay-jail",
        "bin/assay-launcher",
        f"harness/_native{sysconfig.get_config_var('EXT_SUFFIX')}",
        "harness/libassay_fake_cuda_guard.so",
        "operators/guides/gluon.md",
        "sandbox/harness/main.py",
        "sandbox/harness/cuda_cpp/include/cmath",
        "importers/flashinfer/export_flashinfer.py",
        "metrics/codebleu.py",
        "reference_agents/llm/prices.toml",
        "server/commands/demo/escape.py",
        "packaging/make_python.py",
        "python/assay/datasets.py",
        "python/assay/py.typed",
        "requirements.txt",
        "LICENSE",
    ):
        assert (installed / part).is_file(), part
    foreign = [*installed.rglob("*.cc"), *installed.rglob("CMakeLists.txt")]
    assert foreign == []
    for data in ("operators", "importers", "sandbox/harness"):
        tracked = [path for path in (ROOT / data).rglob("*.py") if "__pycache__" not in path.parts]
        copied = [*(installed / data).rglob("*.py")]
        assert len(copied) == len(tracked), data


def test_an_installed_program_finds_its_parts_after_a_move(installed: Path, tmp_path: Path) -> None:
    moved = tmp_path / "moved"
    shutil.copytree(installed, moved)
    listed = run(moved / "bin/assay", "operators", "list", home=tmp_path)
    assert listed.returncode == 0 and "vector_add" in listed.stdout, listed.stderr
    shown = json.loads(run(moved / "bin/assay", "config", "show", "--json", home=tmp_path).stdout)
    values = {value["key"]: value for value in shown["values"]}
    assert values["root"]["value"] == str(moved)
    assert values["python"]["value"] == str(tmp_path / ".local/share/assay/python/bin/python")
    refused = run(moved / "bin/assay", "demo", home=tmp_path)
    assert refused.returncode != 0 and "`assay setup`" in refused.stderr


def test_setup_belongs_to_an_installed_assay(tmp_path: Path) -> None:
    refused = run(BUILD / "bin/assay", "setup", home=tmp_path)
    assert refused.returncode == 64 and "./run setup" in refused.stderr


def test_config_show_names_the_origin_of_each_value(tmp_path: Path) -> None:
    file = tmp_path / ".config/assay/assay.toml"
    file.parent.mkdir(parents=True)
    file.write_text('state_dir = "/from/file"\npython = "/from/file"\n[serve]\ndrain-s = 7\n')
    text = run(
        BUILD / "bin/assay", "config", "show", home=tmp_path, ASSAY_PYTHON="/from/variable"
    ).stdout
    assert f'state_dir = "/from/file"  # {file}:1' in text
    assert 'python = "/from/variable"  # ASSAY_PYTHON' in text
    assert f'[serve]\ndrain-s = "7"  # {file}:4' in text
    assert 'cuda_toolkit = ""  # default' in text
    assert "device" not in text
    every = run(BUILD / "bin/assay", "config", "show", "--all", home=tmp_path).stdout
    assert "[serve]" in every and "\ndevice = " in every


def test_a_file_does_not_bring_a_folder_of_sources_to_http(tmp_path: Path) -> None:
    file = tmp_path / "assay.toml"
    file.write_text(f'[serve]\nhttp = "127.0.0.1:0"\nsource-folder = "{tmp_path}"\n')
    words = ("serve", "--device", "fake", "--store", str(tmp_path / "s.db"))
    refused = run(BUILD / "bin/assay", *words, home=tmp_path, ASSAY_CONFIG=str(file))
    assert refused.returncode == 78, refused.stderr
    assert f"{file}:3: `source-folder` excludes `http` of {file}:2" in refused.stderr


def test_a_url_of_a_file_is_the_server_that_doctor_checks(tmp_path: Path) -> None:
    file = tmp_path / "assay.toml"
    file.write_text('[doctor]\nurl = "http://127.0.0.1:1/mcp"\n')
    done = run(BUILD / "bin/assay", "doctor", home=tmp_path, ASSAY_CONFIG=str(file))
    assert done.returncode != 0 and "127.0.0.1:1" in done.stdout + done.stderr


@pytest.mark.parametrize(
    ("text", "valid"),
    [
        ('stat_dir = "/x"\n', "state_dir"),
        ("[serve]\ndevices = 1\n", "device"),
        ("[server]\nhttp = 1\n", "serve"),
        ("[serve]\ndrain-s = -4\n", "drain-s"),
        ("[serve\n", ":1"),
    ],
)
def test_a_wrong_file_ends_every_command_but_not_the_help(
    tmp_path: Path, text: str, valid: str
) -> None:
    file = tmp_path / "wrong.toml"
    file.write_text(text)
    refused = run(BUILD / "bin/assay", "suites", home=tmp_path, ASSAY_CONFIG=str(file))
    assert refused.returncode == BAD_CONFIG
    assert str(file) in refused.stderr and valid in refused.stderr
    helped = run(BUILD / "bin/assay", "--help", home=tmp_path, ASSAY_CONFIG=str(file))
    assert helped.returncode == 0


def test_a_missing_file_that_assay_config_names_is_refused(tmp_path: Path) -> None:
    refused = run(
        BUILD / "bin/assay", "suites", home=tmp_path, ASSAY_CONFIG=str(tmp_path / "none.toml")
    )
    assert refused.returncode == BAD_CONFIG and "none.toml" in refused.stderr


def test_setup_installs_what_jobs_need_and_nothing_for_tests() -> None:
    requirements = module_of("packaging/make_python.py").requirements
    text = (ROOT / "requirements.txt").read_text()
    names = {line.partition("==")[0] for line in requirements(text, "any")}
    assert {"torch", "triton", "numpy", "nvidia-cuda-nvrtc-cu12"} <= names
    assert not names & {"pytest", "mypy", "ruff", "mcp"}
    [torch] = [line for line in requirements(text, "cpu") if line.startswith("torch==")]
    assert torch.endswith("+cpu")


def test_the_tag_of_a_wheel_comes_from_its_programs() -> None:
    minor, by = module_of("packaging/tag_wheel.py").glibc_minor(BUILD / "bin")
    assert minor >= 34 and by.startswith("assay")


def test_the_metadata_of_the_wheel_agree_with_the_project() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())
    version = project["tool"]["scikit-build"]["metadata"]["version"]
    found = re.search(version["regex"], (ROOT / version["input"]).read_text())
    assert found is not None
    shown = subprocess.run([BUILD / "bin/assay", "--version"], capture_output=True, text=True)
    assert shown.stdout.strip() == "assay " + found["value"]
    assert project["project"]["scripts"] == {"assay": "assay.__main__:main"}
    assert (ROOT / "python/assay/__main__.py").is_file()


def test_the_package_names_only_extras_that_exist() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())
    texts = [path.read_text() for path in (ROOT / "python/assay").rglob("*.py")]
    named = {extra for text in texts for extra in re.findall(r"'assay\[(\w+)\]'", text)}
    assert {"client", "ray"} <= named <= set(project["project"]["optional-dependencies"])


def test_the_wheel_has_the_profile_that_the_page_installs() -> None:
    """The page named a file before that only a source tree has. ./run package-test looks for the
    installed file."""
    described = (ROOT / "cmake/installed.cmake").read_text()
    assert re.search(
        r"packaging/deb/apparmor\s+DESTINATION \$\{SKBUILD_DATA_DIR\}/share/assay ", described
    )
    page = (ROOT / "docs/how-to/install.md").read_text()
    assert "~/assay/share/assay/apparmor | sudo tee /etc/apparmor.d/assay" in page
    assert "/opt/assay/share/assay/apparmor" in (ROOT / "packaging/package_test.sh").read_text()


def test_the_wheel_builds_the_native_module_for_every_python() -> None:
    """One of several Pythons was built before, and the installation of the others failed."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())
    targets = project["tool"]["scikit-build"]["build"]["targets"]
    assert "_native_modules" in targets
    described = (ROOT / "sandbox/harness/native/CMakeLists.txt").read_text()
    assert "add_custom_target(_native_modules DEPENDS ${ASSAY_NATIVE_MODULES})" in described


def test_the_entry_of_the_wheel_reports_a_program_that_is_missing(tmp_path: Path) -> None:
    shutil.copytree(ROOT / "python/assay", tmp_path / "assay", ignore=lambda *_: {"__pycache__"})
    # -S: without the packages of this Python, because an installed Assay has only its own.
    started = [sys.executable, "-S", "-m", "assay", "--version"]
    missing = subprocess.run(started, cwd=tmp_path, capture_output=True, text=True)
    assert missing.returncode == 69 and "_bundle/bin/assay" in missing.stderr
    program = tmp_path / "assay/_bundle/bin/assay"
    program.parent.mkdir(parents=True)
    program.write_text('#!/bin/sh\necho "$@"\n')
    program.chmod(0o755)
    assert subprocess.run(started, cwd=tmp_path, capture_output=True, text=True).stdout == (
        "--version\n"
    )
