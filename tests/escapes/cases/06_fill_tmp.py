# attempt: fills /tmp and /dev/shm
# expect: pass (the attempt gains nothing)
# needs: nothing
# defence: job_tmp, job_shm
# in_run_test: yes

CHUNK = b"x" * (8 << 20)
MOST = 300 << 20  # each of the two may hold 256 MiB


def fill(folder):
    written, errors = 0, 0
    for index in range(4):
        with open(f"{folder}/fill{index}", "wb", buffering=0) as stream:
            try:
                while written <= MOST and (count := stream.write(CHUNK)):
                    written += count
            except OSError as error:
                note(f"{folder}: {_errno.errorcode[error.errno]} after {written >> 20} MiB")
                errors += 1
        if errors > 1:
            break
    for index in range(4):
        if os.path.exists(f"{folder}/fill{index}"):
            os.unlink(f"{folder}/fill{index}")
    return written


require("/tmp is bounded", fill("/tmp") <= MOST)
require("/dev/shm is bounded", fill("/dev/shm") <= MOST)
require(
    "/tmp and /dev/shm are file systems of their own",
    len({os.stat(path).st_dev for path in ("/", "/tmp", "/dev/shm")}) == 3,
)
