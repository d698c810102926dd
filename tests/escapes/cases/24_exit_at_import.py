# attempt: calls os._exit while it is imported
# expect: error:protocol_error
# needs: nothing
# defence: supervisor, frames

import atexit
import faulthandler

faulthandler.enable()
atexit.register(lambda: note("done"))
os._exit(0)
