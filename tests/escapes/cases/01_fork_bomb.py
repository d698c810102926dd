# attempt: forks without end
# expect: error:process_limit
# needs: root
# defence: cgroup_pids, job_limits
# in_run_test: yes

while True:
    os.fork()
