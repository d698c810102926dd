# attempt: spins in eight processes that ignore every signal
# expect: error:timeout
# needs: nothing
# defence: supervisor, pid_namespace
# in_run_test: yes

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
