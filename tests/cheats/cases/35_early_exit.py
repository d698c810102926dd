# cheat: leaves with status 0 before anything is checked
# expect: error:protocol_error
# on_gpu: error:protocol_error
# defence: structure

import os


def vector_add(x, y):
    os._exit(0)
