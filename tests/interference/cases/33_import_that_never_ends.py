# attempt: gets hidden cases by a forged `imported` message while the import still runs
# expect: fail:hidden_case

# While the import still runs, a thread that it started answers the public case correctly. (The
# harness's dispatch modes are on during the import, but they do not affect other threads.) So the
# server sends the hidden cases. Then the import raises an error that quotes them.

import threading

channel, runner = caller("channel"), caller("runner")
hidden = []


def answer_public_cases():
    from harness.entry.cases import CaseInput
    from harness.interpreting.interpret import InterpretRunner

    last = False
    while not last:
        frame = channel.receive()
        last = bool(frame.header.get("last"))
        for wire in frame.header["cases"]:
            case = CaseInput(wire, frame.fds)
            if is_hidden(torch.empty(case.arguments[0]["shape"], device="meta")):
                hidden.append(wire)
            else:
                channel.send(*InterpretRunner.run_case(runner, case, honest_add))


if caller("header")["mode"] == "interpret":
    channel.send({"type": "imported"})
    answering = threading.Thread(target=answer_public_cases)
    answering.start()
    answering.join()
    raise SyntaxError(json.dumps(hidden))


def vector_add(x, y):
    return honest_add(x, y)
