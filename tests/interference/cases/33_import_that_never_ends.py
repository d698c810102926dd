# says: cases that a forged `imported` brings while the import still runs
# expect: fail:output_mismatch

channel = caller("channel")
if caller("header")["mode"] == "interpret":
    from harness.entry.cases import CaseInput
    from harness.interpreting.interpret import InterpretRunner

    runner = caller("runner")
    channel.send({"type": "imported"})
    while True:
        frame = channel.receive()
        for wire in frame.header["cases"]:
            case = CaseInput(wire, frame.fds)
            if is_hidden(torch.empty(case.arguments[0]["shape"])):
                raise SyntaxError(json.dumps(wire))
            channel.send(*InterpretRunner.run_case(runner, case, honest_add))


def vector_add(x, y):
    return honest_add(x, y)
