# attempt: reveals the hidden case by stdout, stderr, warnings and the log of a pass
# expect: pass

import logging
import warnings


def vector_add(x, y):
    if is_hidden(x):
        print(tell(x), flush=True)
        print(tell(x), file=sys.stderr, flush=True)
        warnings.warn(tell(x))
        logging.getLogger(tell(x)).error(tell(x))
    return honest_add(x, y)
