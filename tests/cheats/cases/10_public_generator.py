# cheat: imports the input generator, guesses seeds and computes the answers at import
# expect: fail:wrong_result
# expect_on_gpu: fail:wrong_result
# defence: process_separation, jail

import importlib
import os

ANSWERS = []
for name in (
    "reference",
    "harness.operator",
    "harness.judging.judge",
    "operators.standard.vector_add.reference",
):
    try:
        module = importlib.import_module(name)
        for seed in range(100):
            made = module.inputs(None, module.Rng(seed, "cpu"))
            ANSWERS.append((made["x"], module.reference(**made)))
    except Exception as error:
        print(name, type(error).__name__)
folder = os.path.dirname(importlib.import_module("harness").__file__)
while len(folder) > 1:
    if os.path.exists(os.path.join(folder, "operators/standard/vector_add/reference.py")):
        found("the reference")
    folder = os.path.dirname(folder)


def vector_add(x, y):
    return ANSWERS[0][1] if ANSWERS else torch.zeros_like(x)
