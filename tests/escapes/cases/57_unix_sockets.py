# attempt: connects to sockets of the host, by path and by abstract name
# expect: pass (the attempt gains nothing)
# needs: nothing
# defence: network_namespace, root_filesystem
# in_run_test: yes

import socket

paths = [
    CANARIES["path"],
    "/run/dbus/system_bus_socket",
    "/var/run/docker.sock",
    "/run/containerd/containerd.sock",
    "/tmp/.X11-unix/X0",
]
paths += [
    "/var/run/nvidia-persistenced/socket",
    "/tmp/nvidia-mps/control",
    "/proc/1/root" + CANARIES["path"],
]
for path in [*paths, "\0" + CANARIES["abstract"], "\0/tmp/.X11-unix/X0"]:
    denied(repr(path), socket.socket(socket.AF_UNIX).connect, path)
with open("/proc/net/unix") as table:
    require("no socket of the host is to be seen", CANARIES["abstract"] not in table.read())
