# cheat: hides the library call in strings that scanners skip
# expect: error:not_recordable
# expect_on_gpu: error:not_recordable
# defence: attribution

PIECES = {"comment": "x", "docstring": "+", "note": "y"}


def vector_add(x, y):
    return eval(" ".join(PIECES.values()), {"x": x, "y": y})
