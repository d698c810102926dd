"""Examines ROCm's libraries on a machine without an AMD GPU: the functions that the launcher calls,
the error without a GPU, and HIP C++ for each of AMD's targets, whose code objects are compared with
the launch plans and disassembled.

    python measurements/amd/hip_libraries.py measurements/results/hip-libraries.json

A later call with other libraries adds them to the file. Libraries of another distribution need its
C library: unpack its packages into a folder, and start Python by the loader of that folder, with
`--library-path`. `--plans FOLDER` keeps the plans, which the device `emulated` can perform
(`assay eval vector_add --plan small=FILE`)."""

from __future__ import annotations

import argparse
import ctypes
import json
import re
import sys
from pathlib import Path
from typing import Any
from unittest.mock import patch

import torch

ROOT = Path(__file__).resolve().parent.parent.parent
for folder in ("sandbox", "measurements/amd", "tests/sandbox/harness", "tests/common"):
    sys.path.insert(0, str(ROOT / folder))
sys.path.insert(0, str(ROOT / "tests/sandbox/harness/cuda_cpp"))
SOURCE = ROOT / "tests/hip_cpp/vector_add.cu"
HEADER = ROOT / "sandbox/launcher/driver/hip_api.h"
TRUSTED = ROOT / "sandbox/launcher/memory/trusted_hip.cc"
LIBRARIES = ("libamdhip64.so.7", "libamdhip64.so.6", "libamdhip64.so.5")
CASES = (("small", 4112, torch.float32), ("half", 1027, torch.float16))


def runtime() -> dict[str, Any]:
    """Returns what the first HIP runtime that exists says."""
    for name in LIBRARIES:
        try:
            library = ctypes.CDLL(name)
        except OSError:
            continue
        functions = re.findall(r"^  F\((hip\w+),", HEADER.read_text(), re.MULTILINE)
        version = ctypes.c_int()
        status = library.hipDriverGetVersion(ctypes.byref(version))
        library.hipGetErrorName.restype = ctypes.c_char_p
        return {
            "library": name,
            "version": version.value if status == 0 else None,
            "functions": len(functions),
            "missing": [one for one in functions if not hasattr(library, one)],
            "hipInit": library.hipGetErrorName(library.hipInit(0)).decode(),
        }
    return {"error": f"none of {', '.join(LIBRARIES)} can be loaded"}


def compiled(target: str, plans: Path | None) -> dict[str, Any]:
    """Records a HIP C++ submission for the target, and compiles the launcher's own kernels."""
    from cuda_cases import case
    from harness.cuda_cpp.hiprtc import HipRtc
    from harness.cuda_cpp.runner import CudaCppRunner
    from harness.recording.plan import Plan
    from static_figures import differences

    rows = []
    recorded: list[Plan] = []
    encode = Plan.encode
    for name, count, dtype in CASES:
        runner = CudaCppRunner(target)
        runner.load(SOURCE.read_text())
        tensor = torch.empty(count, dtype=dtype)
        one = case({"x": tensor, "y": tensor}, {"z": tensor}, {"n": count})
        # The runner returns the encoded plan only.
        with patch.object(Plan, "encode", lambda plan: recorded.append(plan) or encode(plan)):
            header, payload = runner.run_case(one)
        if plans is not None:
            (plans / f"{target.partition(':')[2]}-{name}.plan").write_bytes(payload)
        plan = recorded[-1]
        rows.append(
            {
                "case": name,
                "kernels": [
                    {key: kernel[key] for key in ("name", "registers", "spill_bytes")}
                    for kernel in header["kernels"]
                ],
                "differences": differences(target, plan.binaries[0], plan.ops[0]),
                "lines_of_assembly": [text.count(b"\n") for _, _, text in runner.artifacts()],
            }
        )
    text = re.search(r'R"\((.*?)\)";', TRUSTED.read_text(), re.DOTALL)
    assert text is not None
    names = re.findall(r"(assay_\w+)\(", text[1])
    trusted = HipRtc.load().compile(text[1], target, [], [])
    scrub = trusted.code.kernel("assay_scrub")
    return {
        "submission": rows,
        "launchers_kernels": [name for name in names if trusted.code.kernel(name)],
        "registers_of_scrub": [scrub.vector_registers, scrub.vector_spills],
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n\n")[0])
    parser.add_argument("result", type=Path)
    parser.add_argument("--plans", type=Path, help="a folder for the recorded plans")
    options = parser.parse_args()
    from harness.cuda_cpp.hiprtc import HipRtc
    from harness.entry.errors import UnsupportedHere
    from static_figures import TARGETS

    if options.plans is not None:
        options.plans.mkdir(parents=True, exist_ok=True)
    found = runtime()
    found["hiprtc"] = HipRtc.load().name
    found["targets"] = {}
    for target in TARGETS:
        try:
            found["targets"][target] = compiled(target, options.plans)
        except UnsupportedHere as error:
            found["targets"][target] = {"refused": str(error)}
    results = json.loads(options.result.read_text()) if options.result.exists() else {}
    results[str(found.get("version"))] = found
    options.result.write_text(json.dumps(results, indent=1, sort_keys=True) + "\n")
    print(json.dumps(found, indent=1))


if __name__ == "__main__":
    main()
