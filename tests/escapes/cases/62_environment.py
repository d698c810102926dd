# attempt: looks for secrets in the environment
# expect: pass (the attempt gains nothing)
# needs: nothing
# defence: environment, no_dumps, job_proc
# in_run_test: yes

known = {
    "PATH",
    "HOME",
    "TMPDIR",
    "USER",
    "LOGNAME",
    "LANG",
    "CUDA_VISIBLE_DEVICES",
    "PYTHONDONTWRITEBYTECODE",
    "GLIBC_TUNABLES",
    "LC_CTYPE",
}
known |= {
    name
    for name in os.environ
    if name.startswith(
        (
            "OMP_",
            "OPENBLAS_",
            "MKL_",
            "NUMEXPR_",
            "TRITON_",
            "TORCH",
            "ASSAY_NATIVE",
            "ASSAY_TEMPLATE",
            "ASSAY_LEFT_OUT",
            "KINETO",
        )
    )
}
require(f"no other variable, not {sorted(set(os.environ) - known)}", set(os.environ) <= known)
require("not the server's canary", CANARIES["variable"] not in os.environ)
for pid in (1, os.getpid()):
    try:
        with open(f"/proc/{pid}/environ", "rb") as stream:
            require(
                f"/proc/{pid}/environ holds no canary",
                CANARIES["variable"].encode() not in stream.read(),
            )
    except OSError as error:
        note(f"denied /proc/{pid}/environ: {_errno.errorcode[error.errno]}")
require("arguments of the parent are hidden", not os.path.exists("/proc/0/cmdline"))
