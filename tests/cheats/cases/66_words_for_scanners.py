# cheat: does not cheat, but contains words that scanners ban
# expect: pass (the cheat gains nothing)
# expect_on_gpu: pass (the cheat gains nothing)
# defence: attribution

BANNED = """
import inspect, gc, ctypes; sys._getframe(1).f_locals["expected"]; torch.matmul(a, b); time.perf_counter = lambda: 0
torch.cuda.synchronize = None; os._exit(0); subprocess; cudaEventElapsedTime; POPCORN_FD; check: pass
"""
# Banned words: torch.nn.functional.linear(x, w); exec(base64.b64decode(...)); reference; try: except: return torch.add(x, y)


def vector_add(x, y):
    """Never calls torch.add(x, y), torch.ops.aten.add or eval()."""
    return honest_add(x, y)
