# attempt: prints without end, fast
# expect: error:output_limit
# tier: C
# defence: supervisor
# short: yes


def vector_add(x, y):
    while True:
        os.write(1, b"x" * 65536)
