# attempt: an urgent byte on its channel, a corner of the kernel with a history
# expect: pass
# tier: C
# defence: seccomp
# short: yes

import gc
import socket

channel = next(item for item in gc.get_objects() if type(item).__name__ == "Channel")
denied("send of an urgent byte", channel._socket.send, b"!", socket.MSG_OOB)
left, right = socket.socketpair()
denied("sendmsg of an urgent byte", left.sendmsg, [b"!"], [], socket.MSG_OOB)
denied("recv of an urgent byte", right.recv, 1, socket.MSG_OOB | socket.MSG_DONTWAIT)
denied("recvmsg of an urgent byte", right.recvmsg, 1, 0, socket.MSG_OOB | socket.MSG_DONTWAIT)
