# attempt: ends with status 0 and no result
# expect: error:protocol_error
# tier: C
# defence: frames, supervisor
# short: yes


def vector_add(x, y):
    os._exit(0)
