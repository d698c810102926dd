"""The Python inside the sandbox: zygote, candidate and judge. `docs/reference/frames.md` is how
they talk to the supervisor."""
