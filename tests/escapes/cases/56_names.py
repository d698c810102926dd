# attempt: resolves names and opens netlink sockets
# expect: pass (the attempt gains nothing)
# needs: nothing
# defence: network_namespace, seccomp, root_filesystem

import socket

denied("getaddrinfo", socket.getaddrinfo, "example.org", 80)
for protocol in range(0, 22):
    denied(f"netlink {protocol}", socket.socket, socket.AF_NETLINK, socket.SOCK_RAW, protocol)
for path in ("/run/nscd/socket", "/var/run/nscd/socket", "/run/systemd/resolve/io.systemd.Resolve"):
    denied(path, socket.socket(socket.AF_UNIX).connect, path)
