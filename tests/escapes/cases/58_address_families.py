# attempt: opens vsock, packet, crypto, bluetooth, XDP and raw sockets
# expect: pass (the attempt gains nothing)
# needs: nothing
# defence: seccomp, capabilities, network_namespace
# in_run_test: yes

import socket

for name, family in {
    "vsock": 40,
    "packet": 17,
    "alg": 38,
    "bluetooth": 31,
    "xdp": 44,
    "can": 29,
    "tipc": 30,
    "key": 15,
    "ipv6": 10,
    "qipcrtr": 42,
}.items():
    for kind in (socket.SOCK_STREAM, socket.SOCK_DGRAM, socket.SOCK_RAW, socket.SOCK_SEQPACKET):
        denied(f"{name} {int(kind)}", syscall, 41, family, int(kind), 0)
denied("a raw socket", socket.socket, socket.AF_INET, socket.SOCK_RAW, 1)
