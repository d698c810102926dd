# cheat: tries to overwrite the files of the tolerance, the reference and the judge
# expect: fail:wrong_result
# expect_on_gpu: fail:wrong_result
# defence: jail

import importlib
import os

folders = ["/", os.getcwd(), os.path.dirname(importlib.import_module("harness").__file__)]
for folder in folders:
    for path in (
        "spec.toml",
        "reference.py",
        "compare.py",
        "judge.py",
        "operators/standard/vector_add/spec.toml",
    ):
        try:
            with open(os.path.join(folder, path), "r+") as stream:
                stream.write("max_abs_error = 1e9\n")
            found(f"{path} in {folder}, writable")
        except OSError:
            pass


def vector_add(x, y):
    return torch.zeros_like(x)
