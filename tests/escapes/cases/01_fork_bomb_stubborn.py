# attempt: forks without end, and continues after every refusal
# expect: error:process_limit
# needs: root
# defence: cgroup_pids, job_limits

while True:
    try:
        os.fork()
    except OSError:
        pass
