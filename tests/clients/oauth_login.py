"""Gives the official Python client an OAuth provider for the tests, without a browser. It is to
tests/clients/mcp_sessions.py what tests/node/oauth.mjs is to the TypeScript clients.

    login = Login(url, {"flow": "person", "issuer": issuer})
    http = httpx2.AsyncClient(auth=login.provider)

The flow "machine" is the SDK's own provider for client credentials. The flow "person" follows the
redirects of the authorization code flow with PKCE as a browser does. The flow "newcomer" also
registers the client before."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any
from urllib.parse import parse_qs, urlsplit

REDIRECT = "http://127.0.0.1:1/callback"  # nothing listens there: the code is in the URL
MAX_REDIRECTS = 20


def redirected(url: str) -> str:
    """Follows the redirects of an identity provider with cookies, as a browser does. Returns the
    first URL that is not the provider's own."""
    import httpx2

    provider = urlsplit(url).netloc
    with httpx2.Client() as browser:
        for _ in range(MAX_REDIRECTS):
            response = browser.get(url)
            assert response.is_redirect, f"{url}: {response.status_code} {response.text}"
            url = str(response.url.join(response.headers["location"]))
            if urlsplit(url).netloc != provider:
                return url
    raise AssertionError("too many redirects")


class Storage:
    """Keeps the client's tokens in memory, with the scope of each token that it got."""

    def __init__(self) -> None:
        self.scopes: list[str] = []
        self.tokens: Any = None
        self.client: Any = None

    async def get_tokens(self) -> Any:
        return self.tokens

    async def set_tokens(self, tokens: Any) -> None:
        self.scopes.append(tokens.scope or "")
        self.tokens = tokens

    async def get_client_info(self) -> Any:
        return self.client

    async def set_client_info(self, client_info: Any) -> None:
        self.client = client_info


class Login:
    def __init__(self, url: str, oauth: Mapping[str, str]) -> None:
        from mcp.client.auth import OAuthClientProvider
        from mcp.client.auth.extensions.client_credentials import ClientCredentialsOAuthProvider
        from mcp.shared.auth import OAuthClientInformationFull, OAuthClientMetadata

        self.storage = Storage()
        self.answer: dict[str, list[str]] = {}
        if oauth["flow"] == "machine":
            self.provider: Any = ClientCredentialsOAuthProvider(
                url,
                self.storage,
                oauth["clientId"],
                oauth["clientSecret"],
                scope=oauth["scope"],
                issuer=oauth["issuer"],
            )
            return
        settings: Any = {
            "client_name": "assay-client-tests",
            "redirect_uris": [REDIRECT],
            "grant_types": ["authorization_code"],
            "response_types": ["code"],
            "token_endpoint_auth_method": "none",
            "application_type": "native",
        }
        metadata = OAuthClientMetadata.model_validate(settings)
        if oauth["flow"] == "person":
            self.storage.client = OAuthClientInformationFull.model_validate(
                {**settings, "client_id": "person"}
            )
        self.provider = OAuthClientProvider(url, metadata, self.storage, self.follow, self.callback)

    async def follow(self, url: str) -> None:
        self.answer = parse_qs(urlsplit(redirected(url)).query)

    async def callback(self) -> Any:
        from mcp.client.auth import AuthorizationCodeResult

        first = {name: values[0] for name, values in self.answer.items()}
        return AuthorizationCodeResult(
            code=first["code"], state=first.get("state"), iss=first.get("iss")
        )
