"""Tests a server behind a real identity provider (the npm package oidc-provider), with the OAuth
clients of the official SDKs. Each client finds the provider through the server's 401 answer and
metadata, gets a token for practice, and asks for more scopes when a call needs them."""

from __future__ import annotations

import json
import urllib.error
import urllib.request
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from identity_provider import (
    CLIENT_ID,
    CLIENT_SECRET,
    SERVER_ID,
    SERVER_SECRET,
    IdentityProvider,
    guarded,
    identity_provider,
)
from mcp_sessions import CLIENTS, Client, Target, connect
from test_scored_run import PASSES, scored_run

PING = b'{"jsonrpc":"2.0","id":1,"method":"ping"}'


@pytest.fixture(scope="module")
def provider(node_dir: Path) -> Iterator[IdentityProvider]:
    with identity_provider(node_dir) as running:
        yield running


def oauth_of(flow: str, provider: IdentityProvider) -> dict[str, str]:
    return {
        "flow": flow,
        "issuer": provider.issuer,
        "clientId": CLIENT_ID,
        "clientSecret": CLIENT_SECRET,
        "scope": "practice score",  # SDK v1 needs it with client credentials
    }


def post(url: str, token: str, body: bytes = PING) -> tuple[int, dict[str, str], Any]:
    headers = {"Content-Type": "application/json", "Accept": "application/json, text/event-stream"}
    if token:
        headers["Authorization"] = f"Bearer {token}"
    try:
        with urllib.request.urlopen(
            urllib.request.Request(url, body, headers), timeout=120
        ) as response:
            return response.status, dict(response.headers), json.load(response)
    except urllib.error.HTTPError as error:
        return error.code, dict(error.headers), json.load(error)


@pytest.mark.parametrize("flow", ["machine", "person"])
@pytest.mark.parametrize("client", CLIENTS, ids=str)
def test_a_client_gets_its_token_and_more_scopes(
    client: Client,
    flow: str,
    binary: str,
    provider: IdentityProvider,
    node_dir: Path,
    tmp_path: Path,
) -> None:
    # With client credentials, SDK v1 asks only for the scope that it was configured with.
    fixed = flow == "machine" and client.sdk == "typescript_v1"
    with guarded(binary, tmp_path / "assay.db", provider) as target:
        with connect(client, replace(target, oauth=oauth_of(flow, provider)), node_dir) as session:
            assert session.request("tokenScopes", {})["scopes"] == [
                "practice score" if fixed else "practice"
            ]
            scored_run(session, PASSES.format(name="vector_add"), times=True)
            scopes = session.request("tokenScopes", {})["scopes"]
            assert set(scopes[-1].split()) == {"practice", "score"}
            assert len(scopes) == (1 if fixed else 2)


@pytest.mark.parametrize("client", CLIENTS, ids=str)
def test_a_client_registers_itself(
    client: Client, binary: str, provider: IdentityProvider, node_dir: Path, tmp_path: Path
) -> None:
    oauth = oauth_of("newcomer", provider)
    with guarded(binary, tmp_path / "assay.db", provider) as target:
        with connect(client, replace(target, oauth=oauth), node_dir) as session:
            tested = session.call(
                "run_tests", {"operator": "vector_add", "code": PASSES.format(name="vector_add")}
            )
            assert tested["structuredContent"]["outcome"] == "pass"


@pytest.mark.parametrize("algorithm", ["RS256", "PS256", "ES256", "EdDSA"])
def test_every_algorithm_of_the_provider(
    algorithm: str, binary: str, node_dir: Path, tmp_path: Path
) -> None:
    with (
        identity_provider(node_dir, algorithm=algorithm) as provider,
        guarded(binary, tmp_path / "assay.db", provider, "--oauth-require-at-jwt") as target,
    ):
        token = provider.token(target.url, "practice score")
        assert post(target.url, token)[0] == 200
        head, payload, signature = token.split(".")
        swapped = signature[:-8] + ("A" * 8 if not signature.endswith("A" * 8) else "B" * 8)
        status, headers, _ = post(target.url, f"{head}.{payload}.{swapped}")
        assert status == 401 and 'error="invalid_token"' in headers["WWW-Authenticate"]


def test_a_token_for_another_resource_is_refused(
    binary: str, provider: IdentityProvider, tmp_path: Path
) -> None:
    with guarded(binary, tmp_path / "assay.db", provider) as target:
        status, headers, _ = post(target.url, provider.token("http://127.0.0.1:1/mcp", "score"))
        assert status == 401
        challenge = headers["WWW-Authenticate"]
        assert 'error="invalid_token"' in challenge and "another service" in challenge
        origin = target.url.removesuffix("/mcp")
        metadata = f"{origin}/.well-known/oauth-protected-resource"
        assert f'resource_metadata="{metadata}/mcp"' in challenge
        for url in (metadata, f"{metadata}/mcp"):
            with urllib.request.urlopen(url, timeout=120) as response:
                document = json.load(response)
            assert document["resource"] == target.url
            assert document["authorization_servers"] == [provider.issuer]
            assert document["scopes_supported"] == ["practice", "score"]


def test_the_server_follows_new_keys(binary: str, node_dir: Path, tmp_path: Path) -> None:
    with (
        identity_provider(node_dir) as provider,
        guarded(binary, tmp_path / "assay.db", provider, "--oauth-keys-s", "1") as target,
    ):
        old = provider.token(target.url, "practice")
        assert post(target.url, old)[0] == 200
        provider.rotate_keys()
        new = provider.token(target.url, "practice")
        assert wait_for_status(target, new, 200)
        assert post(target.url, old)[0] == 401


def test_opaque_tokens_until_they_are_revoked(binary: str, node_dir: Path, tmp_path: Path) -> None:
    secret = tmp_path / "secret"
    secret.write_text(SERVER_SECRET)
    secret.chmod(0o600)
    with identity_provider(node_dir, opaque=True) as provider:
        options = [
            *("--oauth-introspection-url", f"{provider.issuer}/token/introspection"),
            *("--oauth-introspection-client", SERVER_ID),
            *("--oauth-introspection-secret", str(secret), "--oauth-introspection-cache-s", "0"),
        ]
        with guarded(binary, tmp_path / "assay.db", provider, *options) as target:
            token = provider.token(target.url, "practice")
            assert "." not in token
            assert post(target.url, token)[0] == 200
            status, headers, _ = post(target.url, provider.token("http://127.0.0.1:1/mcp", "score"))
            assert status == 401 and "another service" in headers["WWW-Authenticate"]
            provider.revoke(token)
            status, headers, _ = post(target.url, token)
            assert status == 401 and "not active" in headers["WWW-Authenticate"]
            # A person logs in at the provider, and asks for more scopes.
            client = next(one for one in CLIENTS if one.sdk == "typescript_v2")
            asking = replace(target, oauth=oauth_of("person", provider))
            with connect(client, asking, node_dir) as session:
                scored_run(session, PASSES.format(name="vector_add"), times=True)
                assert len(session.request("tokenScopes", {})["scopes"]) == 2
            secret.write_text("another secret")
            status, headers, _ = post(target.url, provider.token(target.url, "practice"))
            assert status == 503 and "WWW-Authenticate" not in headers


def wait_for_status(target: Target, token: str, wanted: int) -> bool:
    """Repeats a request until the server has fetched the keys again, which it does not do at once
    for every unknown key."""
    import time

    deadline = time.monotonic() + 120
    while post(target.url, token)[0] != wanted:
        if time.monotonic() > deadline:
            return False
        time.sleep(0.1)
    return True
