# attempt: reveals the hidden case by the limit that it exceeds: output or processes
# expect: fail:hidden_case


def vector_add(x, y):
    if is_hidden(x):
        if number(x) % 2:
            while True:
                print(tell(x) * 1000)
        while True:
            if os.fork() == 0:
                os.execv(sys.executable, [sys.executable, "-c", "import time; time.sleep(9)"])
    return honest_add(x, y)
