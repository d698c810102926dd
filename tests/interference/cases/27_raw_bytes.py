# attempt: reveals the hidden case by bytes on the channel that are not a frame
# expect: fail:hidden_case


def vector_add(x, y):
    if is_hidden(x):
        os.write(caller("channel").fileno(), tell(x).encode() * (number(x) % 50 + 1))
    return honest_add(x, y)
