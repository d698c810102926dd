# attempt: reveals the hidden case by new text for the lines of the source, in memory and on disk
# expect: fail:hidden_case


def vector_add(x, y):
    if is_hidden(x):
        source = caller("source")
        source.text = f"# {tell(x)}\n" * 100
        with open(source.path, "w", encoding="utf-8") as stream:
            stream.write(source.text)
        raise ValueError(tell(x))
    return honest_add(x, y)
