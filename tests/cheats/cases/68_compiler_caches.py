# cheat: overwrites all entries of the compilers' caches, which the next submission would then use
# expect: fail:wrong_result
# expect_on_gpu: fail:wrong_result
# calls: 2
# defence: jail

import os

from triton import knobs

HOMES = [
    os.path.expanduser(f"~/{name}")
    for name in (".triton/cache", ".cache/torch_extensions", ".ccache")
]
FOLDERS = [knobs.cache.dir, *HOMES, "/tmp"]
for top in FOLDERS:
    for root, _, files in os.walk(top or "/tmp"):
        for name in files:
            if name == "left-in-a-cache":
                found(f"{name} of an earlier job")
            if name.endswith((".cubin", ".so", ".json")):
                try:
                    with open(os.path.join(root, name), "wb") as stream:
                        stream.write(b"poisoned")
                except OSError:
                    pass
for top in FOLDERS:
    try:
        os.makedirs(top, exist_ok=True)
        with open(os.path.join(top, "left-in-a-cache"), "w") as stream:
            stream.write("x")
    except OSError:
        pass


def vector_add(x, y):
    return torch.zeros_like(x)
