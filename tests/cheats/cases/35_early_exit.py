# cheat: exits with status 0 before anything is checked
# expect: error:protocol_error
# expect_on_gpu: error:protocol_error
# defence: process_separation

import os


def vector_add(x, y):
    os._exit(0)
