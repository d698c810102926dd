# attempt: creates a million empty files
# expect: pass (the attempt gains nothing)
# needs: nothing
# defence: job_tmp


def make_files():
    for index in range(1_000_000):
        os.close(os.open(f"/tmp/empty{index}", os.O_CREAT | os.O_WRONLY))


denied("a million files", make_files)
for name in os.listdir("/tmp"):
    if name.startswith("empty"):
        os.unlink(f"/tmp/{name}")  # the compiler of this job needs room
