# attempt: spins in nine processes that ignore every signal
# expect: error:timeout
# tier: C
# defence: supervisor, pid_namespace
# short: yes

import signal

for number in range(1, 65):
    try:
        signal.signal(number, signal.SIG_IGN)
    except (OSError, ValueError):
        pass
for _ in range(3):
    os.fork()
while True:
    pass
