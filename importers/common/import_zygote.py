"""The main program of an import's jail: imports torch, Triton and the importer's steps once, then
forks a child for each file. So a file does not pay for these imports.

    # import_jail.py starts it; the module NAME has a function serve(channel, layers)
    assay-jail ... -- python -I -B -u import_zygote.py --control-fd N --child NAME

The exit status is 0 if the importer closed the control socket, and 1 after a defect."""

import gc
import os
import sys

_IMPORTERS = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
sys.path[:0] = [
    *(os.path.join(_IMPORTERS, room) for room in ("common", "tritonbench", "flashinfer")),
    os.path.join(_IMPORTERS, "kernelbench"),
    os.path.join(os.path.dirname(_IMPORTERS), "sandbox"),
]
# The zygote forks, and a forked child has only the thread that called fork.
for _name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMEXPR_NUM_THREADS"):
    os.environ[_name] = "1"

# The modules that the children run, and those that are imported before the first fork.
CHILDREN = {
    "golden_child": (
        "golden_child",
        "eager_child",
        "kernelbench_problem",
        "tritonbench_operator",
    ),
    "trace_child": ("trace_child",),
}


def main() -> int:
    import argparse
    import importlib

    parser = argparse.ArgumentParser(description="The warm process of an import's jail.")
    parser.add_argument("--control-fd", type=int, required=True)
    parser.add_argument("--child", choices=CHILDREN, default="golden_child")
    arguments = parser.parse_args()
    gc.disable()  # until the imports have ended
    child, *_ = [importlib.import_module(name) for name in CHILDREN[arguments.child]]
    from harness.candidate import zygote

    gc.freeze()
    gc.enable()
    try:
        zygote.serve(arguments.control_fd, child.serve)
    except ConnectionError:
        return 0  # the importer has closed the socket
    return 0


if __name__ == "__main__":
    sys.exit(main())
