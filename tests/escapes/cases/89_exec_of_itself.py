# attempt: replaces itself by another program, which answers in its place
# expect: error:protocol_error
# needs: nothing
# defence: supervisor, frames

os.execv("/bin/echo", ["echo", '{"type": "done"}'])
