# attempt: reveals the hidden case to the next job by the names of files that it leaves
# expect: pass

for folder in ("/tmp", "/var/tmp", "/dev/shm", os.path.expanduser("~")):
    try:
        for name in sorted(os.listdir(folder)):
            if name.startswith("left_"):
                print("found", name)
    except OSError:
        pass


def vector_add(x, y):
    if is_hidden(x):
        for folder in ("/tmp", "/var/tmp", "/dev/shm", os.path.expanduser("~")):
            try:
                open(os.path.join(folder, f"left_{tell(x)}"), "w").close()
            except OSError:
                pass
    return honest_add(x, y)
