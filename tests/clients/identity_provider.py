"""Runs a real identity provider (tests/node/identity_provider.mjs) and servers that trust it.

with identity_provider(node_dir) as provider, guarded(binary, store, provider) as target:
    token = provider.token(target.url, "practice")"""

from __future__ import annotations

import base64
import json
import os
import socket
import subprocess
import urllib.parse
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from assay_server import PortTaken, serving
from mcp_sessions import Target

PROGRAM = Path(__file__).resolve().parents[1] / "node/identity_provider.mjs"
CLIENT_ID = "machine"
CLIENT_SECRET = "secret of the machine"
# The client as which a server asks about opaque tokens, and its secret.
SERVER_ID = "resource-server"
SERVER_SECRET = "secret: of the server"
PORT_ATTEMPTS = 20


class IdentityProvider:
    def __init__(self, process: subprocess.Popen[str]) -> None:
        self.process = process
        self.issuer = str(self.read()["issuer"])

    def read(self) -> dict[str, Any]:
        assert self.process.stdout is not None
        line = self.process.stdout.readline()
        assert line, f"the identity provider ended with status {self.process.wait(10)}"
        answer: dict[str, Any] = json.loads(line)
        return answer

    def rotate_keys(self) -> None:
        """Replaces the signing key. The old key is no longer published."""
        assert self.process.stdin is not None
        self.process.stdin.write('{"rotate": true}\n')
        self.process.stdin.flush()
        assert self.read() == {"rotated": True}

    def post(self, path: str, form: dict[str, str]) -> str:
        """Sends a form as the client CLIENT_ID. Returns the body of the answer."""
        names = (urllib.parse.quote_plus(text) for text in (CLIENT_ID, CLIENT_SECRET))
        basic = base64.b64encode(":".join(names).encode()).decode()
        request = urllib.request.Request(
            f"{self.issuer}{path}",
            urllib.parse.urlencode(form).encode(),
            {"Authorization": f"Basic {basic}"},
        )
        with urllib.request.urlopen(request, timeout=120) as response:
            return str(response.read().decode())

    def token(self, resource: str, scope: str) -> str:
        """Gets an access token by client credentials."""
        form = {"grant_type": "client_credentials", "resource": resource, "scope": scope}
        return str(json.loads(self.post("/token", form))["access_token"])

    def revoke(self, token: str) -> None:
        self.post("/token/revocation", {"token": token})

    def keys(self) -> str:
        with urllib.request.urlopen(f"{self.issuer}/jwks", timeout=120) as response:
            return str(response.read().decode())


@contextmanager
def identity_provider(node_dir: Path, **settings: Any) -> Iterator[IdentityProvider]:
    """Runs a provider. `settings`: `algorithm` (default ES256), `lifetime_s` of its tokens, `opaque`
    for tokens that are not signed."""
    process = subprocess.Popen(
        [
            str(node_dir / "node_modules/.bin/node"),
            str(PROGRAM),
            json.dumps({"algorithm": "ES256", **settings}),
        ],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
        env={**os.environ, "ASSAY_NODE_DIR": str(node_dir)},
    )
    try:
        yield IdentityProvider(process)
    finally:
        process.kill()
        process.wait()


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


@contextmanager
def guarded(
    binary: str, store: Path, provider: IdentityProvider, *options: str
) -> Iterator[Target]:
    """Runs a server that accepts tokens of the provider. The URL of a resource is fixed before the
    server starts, so the server cannot choose its own port."""
    for _ in range(PORT_ATTEMPTS):
        server = serving(
            "http",
            binary,
            *("--device", "fake", "--store", str(store), "--oauth-issuer", provider.issuer),
            *options,
            address=f"127.0.0.1:{free_port()}",
        )
        try:
            target = server.__enter__()
        except PortTaken:
            continue
        try:
            yield target
        finally:
            server.__exit__(None, None, None)
        return
    raise AssertionError("no free port was found")
