# attempt: writes outside of its own folders
# expect: pass (the attempt gains nothing)
# needs: nothing
# defence: root_filesystem, slot_user
# in_run_test: yes

import torch as _torch

places = [
    "/usr/escape",
    "/etc/escape",
    "/escape",
    "/root/escape",
    "/home/escape",
    "/var/escape",
    "/var/tmp/escape",
    "/run/escape",
    "/dev/escape",
]
places += [
    os.path.join(os.path.dirname(_torch.__file__), "escape"),
    os.path.join(os.path.dirname(os.__file__), "escape"),
    "/proc/driver/escape",
]
places += [
    os.path.join(os.path.dirname(CANARIES["file"]), "escape"),
    os.path.join(os.path.dirname(sys.modules["harness"].__path__[0]), "escape"),
]
for place in places:
    folder = os.path.dirname(place)
    if not has_own_user() and os.path.exists(folder):
        # If the checkout is below /tmp, the folder may be in the job's /tmp, where it may write.
        if os.stat(folder).st_dev == os.stat("/tmp").st_dev:
            continue
    denied(place, os.open, place, os.O_CREAT | os.O_WRONLY)
denied("overwriting torch", os.open, _torch.__file__, os.O_WRONLY)
denied("overwriting the harness", os.open, sys.modules["harness.wire.frames"].__file__, os.O_WRONLY)
denied("unlinking torch", os.unlink, _torch.__file__)
