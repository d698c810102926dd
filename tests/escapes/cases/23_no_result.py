# attempt: ends with status 0 and no result
# expect: error:protocol_error
# needs: nothing
# defence: frames, supervisor
# in_run_test: yes


def vector_add(x, y):
    os._exit(0)
