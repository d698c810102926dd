# attempt: writes to the machine's random number generator
# expect: pass (the attempt gains nothing)
# needs: nothing
# defence: landlock

for name in ("/dev/random", "/dev/urandom"):
    denied(f"writing to {name}", os.open, name, os.O_WRONLY)
