# attempt: writes to the machine's random number generator
# expect: pass
# tier: C
# defence: landlock

for name in ("/dev/random", "/dev/urandom"):
    denied(f"writing to {name}", os.open, name, os.O_WRONLY)
