# cheat: launches on a second stream, which the timed stream's events do not measure
# expect: pass (the cheat gains nothing)
# expect_on_gpu: pass
# defence: launcher


def vector_add(x, y):
    try:
        stream = torch.cuda.Stream()
    except RuntimeError:
        stream = torch.cuda.current_stream()
    with torch.cuda.stream(stream):
        return honest_add(x, y)
