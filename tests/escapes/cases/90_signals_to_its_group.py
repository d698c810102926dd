# attempt: sends SIGKILL to its process group
# expect: error:crash,protocol_error
# needs: nothing
# defence: job_session, pid_namespace

import signal


def everyone():
    os.kill(0, signal.SIGKILL)


status = in_child(everyone)
require("the child killed its group", os.WIFSIGNALED(status))
os.kill(0, signal.SIGKILL)
os._exit(0)
