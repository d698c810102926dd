# cheat: executes a library call that is encoded as base64
# expect: error:not_recordable
# expect_on_gpu: error:not_recordable
# defence: attribution

import base64

CODE = "ZGVmIHdvcmsoeCwgeSk6IHJldHVybiBnZXRhdHRyKHgsICdfX2EnICsgJ2RkX18nKSh5KQ=="
exec(base64.b64decode(CODE).decode(), globals())


def vector_add(x, y):
    return work(x, y)
