"""The Python code that runs inside the sandbox: zygote, candidate and judge.
`docs/reference/frames.md` describes how these processes talk to the supervisor."""
