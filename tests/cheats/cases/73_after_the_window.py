# cheat: launches when its objects are collected, after the entry has returned
# expect: fail:wrong_result
# on_gpu: fail:wrong_result
# defence: structure, launcher

import atexit
import weakref


class Ticket:
    pass


def vector_add(x, y):
    z = torch.empty_like(x)
    ticket = Ticket()
    ticket.itself = ticket
    weakref.finalize(ticket, honest_add, x.clone(), y.clone(), z)
    atexit.register(honest_add, x, y, z)
    return z
