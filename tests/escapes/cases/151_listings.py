# attempt: lists folders of the host
# expect: pass (the attempt gains nothing)
# needs: nothing
# defence: root_filesystem


def names(folder):
    try:
        found = set(os.listdir(folder))
    except OSError as error:
        note(f"denied {folder}: {error}")
        return set()
    note(f"{folder}: {sorted(found)}")
    return found


foreign = {"boot", "home", "media", "mnt", "run", "srv", "var"} & names("/")
require(f"the root has no folders of users or services, not {foreign}", not foreign)
devices = names("/dev") - {"null", "zero", "random", "urandom", "shm"}
require(f"/dev has only harmless devices, not {devices}", not devices)
settings = names("/etc") - {"alternatives", "ld.so.cache"}
require(f"/etc has no settings of the host, not {settings}", not settings)
require("no other job has shared memory", not names("/dev/shm"))
require("no driver is visible", not names("/proc/driver"))
