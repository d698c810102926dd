# attempt: calls the functions of the jail's own module again, from inside of the jail
# expect: pass (the attempt gains nothing)
# needs: nothing
# defence: seccomp

native = sys.modules["_native"]
denied("a namespace of processes", native.unshare_pid, errors=(RuntimeError,))
denied("an earlier namespace of processes", native.rejoin_pid, errors=(RuntimeError,))
denied("another signal at its parent's end", native.die_with_parent, errors=(RuntimeError,))


def enter_again():
    try:
        native.enter_job_jail({"isolation": "strict", "slot": 0, "job_fd": 3})
    except RuntimeError:
        os._exit(0)
    return 1


require("another jail, of another slot, is refused", in_child(enter_again) == 0)
