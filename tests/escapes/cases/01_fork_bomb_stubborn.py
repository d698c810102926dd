# attempt: fork bomb that goes on after every refusal
# expect: error:process_limit
# tier: R
# defence: cgroup_pids, job_limits

while True:
    try:
        os.fork()
    except OSError:
        pass
