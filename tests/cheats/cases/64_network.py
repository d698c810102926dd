# cheat: fetches a solution over the network and installs a package
# expect: pass (the cheat gains nothing)
# expect_on_gpu: pass (the cheat gains nothing)
# defence: jail

import socket
import subprocess
import sys
import urllib.request

try:
    urllib.request.urlopen("http://192.0.2.1/solution.py", timeout=2)
    found("the network")
except OSError:
    pass
try:
    socket.create_connection(("192.0.2.1", 443), timeout=2)
    found("a connection")
except OSError:
    pass
install = [
    sys.executable,
    "-m",
    "pip",
    "install",
    "--quiet",
    "--disable-pip-version-check",
    "--retries",
    "0",
    "--timeout",
    "1",
    "six",
]
if subprocess.run([*install, "--target", "/tmp/six"], capture_output=True).returncode == 0:
    found("a package")


def vector_add(x, y):
    return honest_add(x, y)
