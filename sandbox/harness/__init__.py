"""The Python inside the sandbox: zygote, candidate and judge. `docs/frames.md` is how they talk to
the supervisor."""
