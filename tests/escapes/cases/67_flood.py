# attempt: prints without end, fast
# expect: error:output_limit
# needs: nothing
# defence: supervisor
# in_run_test: yes


def vector_add(x, y):
    while True:
        os.write(1, b"x" * 65536)
