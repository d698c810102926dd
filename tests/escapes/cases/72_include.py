# attempt: makes a compiler read files of the host
# expect: pass (the attempt gains nothing)
# needs: nothing
# defence: root_filesystem

import glob
import subprocess

for path in ("/etc/passwd", "/etc/shadow", CANARIES["file"]):
    denied(path, open, path)
    for compiler in glob.glob("/usr/bin/gcc") + glob.glob("/usr/bin/cc"):
        asked = ["-include", path, "-E", "-x", "c", "/dev/null"]
        require(
            f"{compiler} -include {path} fails",
            subprocess.run([compiler, *asked], capture_output=True).returncode != 0,
        )
        program = f'__asm__(".incbin \\"{path}\\"");'.encode()
        done = subprocess.run(
            [compiler, "-x", "c", "-c", "-o", "/tmp/x.o", "-"], input=program, capture_output=True
        )
        require(f"{compiler} .incbin {path} fails", done.returncode != 0)
