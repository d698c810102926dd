# attempt: connects by TCP and UDP to the internet, the metadata service, the host and the loopback
# expect: pass (the attempt gains nothing)
# needs: nothing
# defence: network_namespace, seccomp
# in_run_test: yes

import socket

targets = [
    ("192.0.2.1", 80),
    ("1.1.1.1", 53),
    ("169.254.169.254", 80),
    ("10.0.0.1", 22),
    ("127.0.0.1", 8080),
    *map(tuple, CANARIES["tcp"]),
]


def reach(kind, target):
    with socket.socket(socket.AF_INET, kind) as probe:
        probe.settimeout(0.3)
        probe.connect(target)
        probe.send(b"x")


for target in targets:
    denied(f"TCP to {target}", reach, socket.SOCK_STREAM, target)
    if not target[0].startswith("127."):
        denied(f"UDP to {target}", reach, socket.SOCK_DGRAM, target)
denied("IPv6", socket.socket, socket.AF_INET6, socket.SOCK_STREAM)
with open("/proc/net/dev") as table:
    names = [line.split(":")[0].strip() for line in table if ":" in line]
require(f"no interface but lo, not {names}", names == ["lo"])
