# attempt: reveals the hidden case by closing the channel before or after an answer
# expect: fail:hidden_case


def vector_add(x, y):
    if is_hidden(x):
        channel = caller("channel")
        if number(x) % 2:
            channel.send({"type": "case", "id": caller("case").id, "outputs": []})
        channel.close()
    return honest_add(x, y)
