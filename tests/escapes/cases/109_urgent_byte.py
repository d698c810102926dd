# attempt: sends an urgent byte (MSG_OOB) on its channel; the kernel has had bugs there
# expect: pass (the attempt gains nothing)
# needs: nothing
# defence: seccomp
# in_run_test: yes

import gc
import socket

channel = next(item for item in gc.get_objects() if type(item).__name__ == "Channel")
denied("send of an urgent byte", channel._socket.send, b"!", socket.MSG_OOB)
left, right = socket.socketpair()
denied("sendmsg of an urgent byte", left.sendmsg, [b"!"], [], socket.MSG_OOB)
denied("recv of an urgent byte", right.recv, 1, socket.MSG_OOB | socket.MSG_DONTWAIT)
denied("recvmsg of an urgent byte", right.recvmsg, 1, 0, socket.MSG_OOB | socket.MSG_DONTWAIT)
