# attempt: writes its read-only inputs through /proc/self/mem, which ignores page protections
# expect: fail
# needs: nothing
# defence: judge, frames

# The candidate maps its inputs privately from a sealed file. So a forced write changes only the
# candidate's copy of the inputs. The judge has another copy.
import gc

written = 0


def vector_add(x, y):
    global written
    with open("/proc/self/maps") as table:
        maps = [line.split() for line in table if "memfd:assay-inputs" in line]
    try:
        with open("/proc/self/mem", "r+b", buffering=0) as memory:
            for parts in maps:
                first, last = (int(part, 16) for part in parts[0].split("-"))
                memory.seek(first)
                written += memory.write(b"\0" * (last - first))
    except OSError as error:
        note(f"denied /proc/self/mem: {error}")
    for case in (item for item in gc.get_objects() if type(item).__name__ == "CaseInput"):
        case._maps.clear()
    note(f"{written} bytes of inputs set to zero")
    return torch.zeros_like(x)
