# attempt: leaves links in the folders from which results might be collected
# expect: pass (the attempt gains nothing)
# needs: nothing
# defence: frames, root_filesystem

for folder in ("/tmp", os.path.dirname(os.path.abspath(__file__)), "/dev/shm"):
    for name in ("result.json", "output", "stdout", "verdict.json"):
        os.symlink("/etc/passwd", os.path.join(folder, name))
    os.symlink("/", os.path.join(folder, "root"))
