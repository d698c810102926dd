# attempt: fork bomb
# expect: error:process_limit
# tier: R
# defence: cgroup_pids, job_limits
# short: yes

while True:
    os.fork()
