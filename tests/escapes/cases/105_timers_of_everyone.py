# attempt: uses up timers and queued signals, which the kernel limits for all processes of a user
# expect: pass (the attempt gains nothing)
# needs: nothing
# defence: job_limits

import signal

SIGEV_NONE = 1
event = ctypes.create_string_buffer(64)
ctypes.c_int.from_buffer(event, 12).value = SIGEV_NONE
timer = ctypes.c_int(0)
TIMER_CREATE, RT_SIGQUEUEINFO, SI_QUEUE = 222, 129, -1


def make_timers():
    for _ in range(20_000):
        syscall(TIMER_CREATE, 1, ctypes.addressof(event), ctypes.addressof(timer))


denied("20,000 timers", make_timers)

info = ctypes.create_string_buffer(128)
ctypes.c_int.from_buffer(info, 8).value = SI_QUEUE
waiting = signal.SIGRTMIN + 3
signal.pthread_sigmask(signal.SIG_BLOCK, [waiting])


def queue_signals():
    for _ in range(20_000):
        syscall(RT_SIGQUEUEINFO, os.getpid(), int(waiting), ctypes.addressof(info))


denied("20,000 queued signals", queue_signals)
