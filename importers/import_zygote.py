"""The main program of an import's jail: imports torch, Triton and the importer's steps once, then
forks a child for each golden file. So a file does not pay for these imports.

    assay-jail ... -- python -I -B -u import_zygote.py --control-fd N   # import_jail.py starts it

The exit status is 0 if the importer closed the control socket, and 1 after a defect."""

import gc
import os
import sys

_HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [_HERE, os.path.join(os.path.dirname(_HERE), "sandbox")]
# The zygote forks, and a forked child has only the thread that called fork.
for _name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMEXPR_NUM_THREADS"):
    os.environ[_name] = "1"


def main() -> int:
    import argparse

    parser = argparse.ArgumentParser(description="The warm process of an import's jail.")
    parser.add_argument("--control-fd", type=int, required=True)
    arguments = parser.parse_args()
    gc.disable()  # until the imports have ended
    import golden_child
    import kernelbench_problem  # noqa: F401, its imports are those of a step
    import tritonbench_operator  # noqa: F401
    from harness.candidate import zygote

    gc.freeze()
    gc.enable()
    try:
        zygote.serve(arguments.control_fd, golden_child.serve)
    except ConnectionError:
        return 0  # the importer has closed the socket
    return 0


if __name__ == "__main__":
    sys.exit(main())
