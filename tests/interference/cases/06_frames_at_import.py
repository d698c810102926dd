# attempt: reveals what an import finds in its callers' frames and on the heap
# expect: error:other_exception

found = []
frame = sys._getframe()
while frame is not None:
    for name in ("cases", "batch", "case"):
        if name in frame.f_locals:
            found.append(str(frame.f_locals[name]))
    frame = frame.f_back
for thing in gc.get_objects():
    if type(thing).__name__ in ("CaseInput", "MappedFile", "_Batch"):
        found.append(str(vars(thing)))
    elif type(thing) is dict and "arguments" in thing and "output_from" in thing:
        found.append(json.dumps(thing, default=str))
files = [os.readlink(f"/proc/self/fd/{fd}") for fd in os.listdir("/proc/self/fd") if int(fd) > 3]
found += [path for path in files if "memfd" in path]
print("found:", found)
raise SyntaxError(json.dumps(found))
