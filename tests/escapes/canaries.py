"""Creates canaries: secrets and listeners on the host that no submission may reach. A case fails if
its submission reads a secret or connects to a listener."""

from __future__ import annotations

import contextlib
import os
import secrets
import socket
from pathlib import Path
from typing import Any


def _host_address() -> str | None:
    """Returns an address of this machine that is not a loopback address. Sends nothing."""
    with contextlib.suppress(OSError), socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        probe.connect(("192.0.2.1", 9))
        address = str(probe.getsockname()[0])
        return None if address.startswith("127.") else address
    return None


class Canaries:
    """The canaries: an environment variable, a file with mode 0600, and listeners of four kinds."""

    VARIABLE = "ASSAY_CANARY_API_KEY"

    def __init__(self, folder: Path) -> None:
        self.secret = "canary-" + "secret-" + secrets.token_hex(16)
        self.file = folder / "secret.txt"
        self.file.touch(0o600)
        self.file.write_text(self.secret)
        self.path = str(folder / "canary.sock")
        self.abstract = "assay-canary-" + secrets.token_hex(4)
        self.listeners: dict[str, socket.socket] = {}
        self._listen("unix path", socket.AF_UNIX, self.path)
        self._listen("abstract unix", socket.AF_UNIX, "\0" + self.abstract)
        self.loopback = self._listen("TCP on 127.0.0.1", socket.AF_INET, ("127.0.0.1", 0))
        host = _host_address()
        self.host = (
            self._listen("TCP on the host's address", socket.AF_INET, (host, 0)) if host else None
        )

    def _listen(self, name: str, family: int, address: Any) -> Any:
        listener = socket.socket(family, socket.SOCK_STREAM)
        listener.bind(address)
        listener.listen(8)
        listener.setblocking(False)
        self.listeners[name] = listener
        return listener.getsockname()

    def environment(self) -> dict[str, str]:
        return {self.VARIABLE: self.secret}

    def addresses(self) -> dict[str, Any]:
        """Returns the places of the canaries, without their contents. Each submission gets
        these."""
        tcp = [self.loopback, *([self.host] if self.host else [])]
        return {
            "variable": self.VARIABLE,
            "file": str(self.file),
            "path": self.path,
            "abstract": self.abstract,
            "tcp": tcp,
        }

    def touched(self) -> list[str]:
        found = []
        for name, listener in self.listeners.items():
            with contextlib.suppress(BlockingIOError):
                connection, _ = listener.accept()
                connection.close()
                found.append(f"{name} was connected to")
        if self.file.read_text() != self.secret or (self.file.stat().st_mode & 0o777) != 0o600:
            found.append("the secret file was changed")
        return found

    def close(self) -> None:
        for listener in self.listeners.values():
            listener.close()
        with contextlib.suppress(FileNotFoundError):
            os.unlink(self.path)
