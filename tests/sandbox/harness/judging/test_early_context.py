"""Tests that a judge asks the driver for its context before it imports PyTorch."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from harness.judging import early_context

HARNESS = Path(early_context.__file__).parents[2]
DRIVER = """
#include <stdio.h>
#include <stdlib.h>
static int note(const char* name, int value, int code) {
  FILE* file = fopen(getenv("CALLS"), "a");
  fprintf(file, "%s %d\\n", name, value);
  fclose(file);
  return code;
}
int cuInit(unsigned flags) { return note("cuInit", (int)flags, INIT); }
int cuDeviceGet(int* device, int ordinal) { *device = 40 + ordinal; return note("cuDeviceGet", ordinal, 0); }
int cuDevicePrimaryCtxRetain(void** context, int device) {
  *context = &device;
  return note("cuDevicePrimaryCtxRetain", device, 0);
}
"""


def driver(folder: Path, init: int) -> str:
    (folder / "driver.c").write_text(DRIVER)
    built = folder / "libdriver.so"
    command = ["gcc", "-shared", "-fPIC", f"-DINIT={init}", str(folder / "driver.c")]
    subprocess.run([*command, "-o", str(built)], check=True)
    return str(built)


@pytest.mark.parametrize(
    ("init", "calls"),
    [
        (0, ["cuInit 0", "cuDeviceGet 3", "cuDevicePrimaryCtxRetain 43"]),
        (100, ["cuInit 0"]),  # CUDA_ERROR_NO_DEVICE, which PyTorch will report
    ],
)
def test_the_primary_context_of_the_device_is_created(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, init: int, calls: list[str]
) -> None:
    monkeypatch.setenv("CALLS", str(tmp_path / "calls"))
    monkeypatch.delenv(early_context.LOADING, raising=False)
    thread = early_context.begin("cuda:3", driver(tmp_path, init))
    assert thread is not None
    thread.join()
    assert (tmp_path / "calls").read_text().splitlines() == calls


@pytest.mark.parametrize("device", ["cpu", "hip:0"])
def test_other_devices_need_none(device: str) -> None:
    assert early_context.begin(device) is None


def test_a_machine_without_a_driver_is_no_error() -> None:
    thread = early_context.begin("cuda:0", "libno-such-driver.so.1")
    assert thread is not None
    thread.join()


def test_it_can_begin_before_pytorch_is_imported() -> None:
    code = "import sys\nfrom harness.judging import early_context\nprint('torch' in sys.modules)"
    done = subprocess.run(
        [sys.executable, "-c", code],
        env={"PYTHONPATH": str(HARNESS)},
        capture_output=True,
        text=True,
    )
    assert done.stdout == "False\n", done.stderr
