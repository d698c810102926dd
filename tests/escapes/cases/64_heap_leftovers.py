# attempt: looks for earlier jobs' sources in the memory that it was forked with
# expect: pass (the attempt gains nothing)
# needs: nothing
# defence: zygote

import gc

MARKS = [
    (b"an honest ", b"mistake"),
    (b"canary-", b"secret-"),
]  # in halves, so that this source does not contain a whole mark
found = []
with open("/proc/self/maps") as table:
    regions = [line.split() for line in table]
for region in regions:
    if region[1].startswith("rw") and (len(region) < 6 or not region[5].startswith("[v")):
        first, last = (int(part, 16) for part in region[0].split("-"))
        memory = ctypes.string_at(first, last - first)
        for first_half, second_half in MARKS:
            at = memory.find(first_half)
            while at >= 0:
                if (
                    memory[at + len(first_half) : at + len(first_half) + len(second_half)]
                    == second_half
                ):
                    found.append(second_half.decode())
                at = memory.find(first_half, at + 1)
        del memory
require(f"no trace of other jobs, not {found}", not found)
require(
    "no other submission is alive",
    sum(
        getattr(item, "__name__", "") == "submission"
        for item in gc.get_objects()
        if type(item) is type(os)
    )
    == 1,
)
