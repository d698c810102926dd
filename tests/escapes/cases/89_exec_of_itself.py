# attempt: becomes another program, which answers in its place
# expect: error:protocol_error
# tier: C
# defence: supervisor, frames

os.execv("/bin/echo", ["echo", '{"type": "done"}'])
