"""Lists attempts to escape that need more than one submission. Each entry names the test that tries
the attempt, or says why no test does. A second table lists the isolation layers that can be left
out without a failing case, and says why."""

# Maps a name to the attempt, and to the test that tries it or the reason why no test does.
ELSEWHERE: dict[str, tuple[str, str]] = {
    "20_outlives_the_supervisor": (
        "starts sessions of its own and clears its parent death signal, then the supervisor is killed",
        "parent_death, job_parent_death, pid_namespace: test_supervisor_death.py",
    ),
    "21_restart": (
        "the supervisor is killed in the middle of a job and started again",
        "sweep at start: test_supervisor_death.py, tests/crash/crash.py",
    ),
    "48_names_and_sources": (
        "sends names with `..`, zero bytes and options, and sources that are empty, binary or 20 MiB long",
        "tools: test_api_border.py",
    ),
    "50_file_locks": (
        "sends data from job to job by file locks on a shared read-only file",
        "not prevented: two jobs that conspire can signal each other so, as through the machine's load; neither sees what is another's",
    ),
    "61_timing_channels": (
        "sends data between two jobs of the same time by the GPU's clock and memory",
        "not prevented for work without timing; a device is exclusive while it times",
    ),
    "74_other_hangs": (
        "launches kernels that deadlock in a grid barrier or wait for the host",
        "launcher, supervisor: whatever it hangs in is killed; test_simulated_gpu.py, on the fake driver",
    ),
    "75_managed_memory": (
        "allocates more managed memory than the GPU has, which can hang a shared GPU",
        "launcher: a plan has no such buffer; test_simulated_gpu.py, on the fake driver",
    ),
    "78_multicast": (
        "creates multicast objects over several GPUs",
        "launcher: a plan has no such operation and one target; test_simulated_gpu.py, on the fake driver",
    ),
    "79_resets_under_a_job": (
        "the GPU is reset while a job has it",
        "launcher, supervisor: ours, not the submission's error; test_simulated_gpu.py, and test_sandbox for the jobs after it",
    ),
    "82_hosts_without_a_mechanism": (
        "runs on hosts that lack an isolation mechanism",
        "strict refuses, best-effort stamps: test_degraded.py",
    ),
    "131_launcher_taken_over": (
        "takes over the driver in the launcher, and tries files, network, shared memory, capabilities, limits and system calls",
        "the layers launch_*: test_launch_jail.py, by a fake driver that makes system calls",
    ),
}

# Maps an isolation layer to the reason why no case fails when the layer is left out.
WHY_NO_CASE_FAILS: dict[str, str] = {
    "descriptors": "the server's descriptors close on exec, and the zygote refuses to start with an unknown one",
    "job_descriptors": "the zygote closes its own in the child; by itself it is tested in tests/sandbox/jail/job_jail_test.cc",
    "parent_death": "the zygote ends when its socket closes, and all in its pid namespace too; a stopped one is woken as an orphan",
    "job_parent_death": "the end of the zygote's pid namespace covers it; by itself it is tested in tests/sandbox/jail/job_jail_test.cc",
    "capabilities": "`slot_user` covers it: leaving user id 0 gives them up",
    "no_dumps": "`slot_user` covers it: a changed user id makes a process undumpable",
    "launch_capabilities": "`launch_user` covers it: leaving user id 0 gives them up",
    "launch_no_dumps": "`launch_user` covers it: a changed user id makes a process undumpable",
}

# Maps an isolation layer to another layer that stops the same attempts. If both layers are left
# out, at least one case must fail.
COVERED_BY: dict[str, str] = {
    "capabilities": "slot_user",
    "no_dumps": "slot_user",
    "launch_capabilities": "launch_user",
    "launch_no_dumps": "launch_user",
}

# The isolation layers of the zygote itself, which test_zygote_state.py checks.
ZYGOTE_LAYERS = {
    "network_namespace",
    "ipc_namespace",
    "uts_namespace",
    "mount_namespace",
    "zygote_pid_namespace",
    "user_namespace",
    "session",
    "proc",
    "descriptors",
    "parent_death",
}
