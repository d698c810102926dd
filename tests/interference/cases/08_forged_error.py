# attempt: reveals the hidden case by a forged error that claims to come from the parser
# expect: fail:hidden_case


def vector_add(x, y):
    if is_hidden(x):
        text = tell(x)
        frame = {"type": "error", "stage": "import", "kind": "syntax_error", "line": 1}
        caller("channel").send({**frame, "exception": text, "message": text, "code": text})
        os._exit(0)
    return honest_add(x, y)
