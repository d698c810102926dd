"""Wraps the official MCP clients in one interface, so that the same test runs with each client.

    with connect(Client("typescript_v2", "auto"), Target(command=[...])) as session:
        result = session.call("list_operators", {})
        pending = session.start("run_tests", {...}); pending.abort()

Results are JSON as it is sent over the connection, with names in camelCase. Only one thread may use
a session, but it can start a call before another call has ended."""

from __future__ import annotations

import asyncio
import json
import os
import queue
import subprocess
import threading
from collections.abc import Iterator, Mapping
from concurrent.futures import CancelledError, Future
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

from oauth_login import Login
from stdio_client import how_it_ended

ROOT = Path(__file__).resolve().parents[2]
CALL_TIMEOUT_S = 90.0
CONNECT_TIMEOUT_S = 60.0

Json = dict[str, Any]


@dataclass(frozen=True)
class Client:
    """Names an SDK and the way in which it negotiates the protocol: legacy (initialize), auto
    (server/discover; if that fails, initialize) or modern (only the revision 2026-07-28)."""

    sdk: str
    mode: str

    @property
    def version(self) -> str:
        return "2025-11-25" if self.mode == "legacy" else "2026-07-28"

    def __str__(self) -> str:
        return f"{self.sdk}-{self.mode}"


CLIENTS = (
    Client("typescript_v1", "legacy"),
    Client("typescript_v2", "legacy"),
    Client("typescript_v2", "auto"),
    Client("typescript_v2", "modern"),
    Client("python", "legacy"),
    Client("python", "auto"),
)


@dataclass(frozen=True)
class Target:
    """Describes a server by the command that starts it, or by its URL and token. `oauth` says how
    the client gets a token from an identity provider."""

    command: tuple[str, ...] = ()
    url: str = ""
    token: str = ""
    oauth: Mapping[str, str] | None = None


class McpError(Exception):
    """An error that the client raised: a JSON-RPC error, a timeout or an abort."""


@dataclass
class Pending:
    """A call that has started and may not have ended."""

    future: Future[Json]
    abort_call: Any
    progress: list[Json] = field(default_factory=list)

    def result(self, timeout: float = CALL_TIMEOUT_S) -> Json:
        try:
            return self.future.result(timeout)
        except CancelledError:
            raise McpError("aborted") from None

    def abort(self) -> None:
        self.abort_call()


class Session(Protocol):
    connected: Json  # the server's name, protocol version, capabilities and instructions

    def start(self, tool: str, arguments: Json) -> Pending: ...
    def call(self, tool: str, arguments: Json) -> Json: ...
    def request(self, method: str, params: Json) -> Json:
        """Calls a method of the client. `method` is its name in the TypeScript SDKs: listTools,
        readResource, getPrompt, complete, ... The method tokenScopes returns the scope of each
        token that the client got by OAuth."""


class BridgeSession:
    """A TypeScript client in a Node.js process (tests/node/bridge.mjs)."""

    def __init__(self, client: Client, target: Target, node_dir: Path) -> None:
        setup: Json = {
            "sdk": client.sdk.removeprefix("typescript_"),
            "mode": client.mode,
            "token": target.token,
            "oauth": target.oauth,
        }
        setup |= {"url": target.url} if target.url else {"command": list(target.command)}
        self.process = subprocess.Popen(
            [
                str(node_dir / "node_modules/.bin/node"),
                str(ROOT / "tests/node/bridge.mjs"),
                json.dumps(setup),
            ],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env={**os.environ, "ASSAY_NODE_DIR": str(node_dir)},
        )
        self.pending: dict[int, Pending] = {}
        self.first: queue.Queue[Json] = queue.Queue()
        self.reader = threading.Thread(target=self.read, daemon=True)
        self.reader.start()
        self.connected = self.first.get(timeout=CONNECT_TIMEOUT_S).get("connected", {})
        if not self.connected:
            raise McpError(f"the client could not connect; {how_it_ended(self.process)}")

    def read(self) -> None:
        assert self.process.stdout is not None
        for line in self.process.stdout:
            message: Json = json.loads(line)
            if "connected" in message:
                self.first.put(message)
            elif "progress" in message:
                self.pending[message["id"]].progress.append(message["progress"])
            elif "error" in message:
                self.pending[message["id"]].future.set_exception(
                    McpError(message["error"]["message"])
                )
            else:
                self.pending[message["id"]].future.set_result(message["result"])
        self.first.put({})
        unanswered = [waiting for waiting in self.pending.values() if not waiting.future.done()]
        if unanswered:
            error = McpError(f"the client closed its output; {how_it_ended(self.process)}")
            for waiting in unanswered:
                waiting.future.set_exception(error)

    def send(self, message: Json) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write(json.dumps(message) + "\n")
        self.process.stdin.flush()

    def begin(self, method: str, params: Json) -> Pending:
        number = len(self.pending) + 1
        self.pending[number] = Pending(Future(), lambda: self.send({"abort": number}))
        self.send({"id": number, "method": method, "params": params})
        return self.pending[number]

    def start(self, tool: str, arguments: Json) -> Pending:
        return self.begin("callTool", {"name": tool, "arguments": arguments})

    def call(self, tool: str, arguments: Json) -> Json:
        return self.start(tool, arguments).result()

    def request(self, method: str, params: Json) -> Json:
        return self.begin(method, params).result()

    def close(self) -> None:
        assert self.process.stdin is not None
        self.process.stdin.close()
        try:
            self.process.wait(30)
        except subprocess.TimeoutExpired:
            self.process.kill()
            raise


class PythonSession:
    """The Python client on an event loop in a separate thread."""

    def __init__(self, client: Client, target: Target) -> None:
        self.loop = asyncio.new_event_loop()
        self.stop = asyncio.Event()
        ready: Future[Json] = Future()
        self.thread = threading.Thread(
            target=lambda: self.loop.run_until_complete(self.live(client, target, ready)),
            daemon=True,
        )
        self.thread.start()
        self.connected = ready.result(CONNECT_TIMEOUT_S)

    async def live(self, client: Client, target: Target, ready: Future[Json]) -> None:
        import httpx2
        import mcp
        from mcp.client.streamable_http import streamable_http_client

        try:
            server: Any = target.url
            if target.command:
                server = mcp.StdioServerParameters(
                    command=target.command[0], args=list(target.command[1:]), env=dict(os.environ)
                )
            elif target.token:
                http = httpx2.AsyncClient(
                    headers={"Authorization": f"Bearer {target.token}"}, timeout=CALL_TIMEOUT_S
                )
                server = streamable_http_client(target.url, http_client=http)
            elif target.oauth:
                self.login = Login(target.url, target.oauth)
                http = httpx2.AsyncClient(auth=self.login.provider, timeout=CALL_TIMEOUT_S)
                server = streamable_http_client(target.url, http_client=http)
            async with mcp.Client(
                server, mode=client.mode, read_timeout_seconds=CALL_TIMEOUT_S
            ) as self.client:
                ready.set_result(
                    {
                        "server": as_json(self.client.server_info),
                        "version": self.client.protocol_version,
                        "capabilities": as_json(self.client.server_capabilities),
                        "instructions": self.client.instructions or "",
                    }
                )
                await self.stop.wait()
        except BaseException as error:
            if ready.done():
                raise
            ready.set_exception(McpError(f"the client could not connect: {error!r}"))

    def run(self, make: Any) -> Pending:
        pending = Pending(Future(), None)

        async def note(progress: float, total: float | None, message: str | None) -> None:
            pending.progress.append({"progress": progress, "total": total, "message": message})

        async def work() -> Json:
            return as_json(await make(note))

        pending.future = asyncio.run_coroutine_threadsafe(work(), self.loop)
        pending.abort_call = pending.future.cancel
        return pending

    def start(self, tool: str, arguments: Json) -> Pending:
        return self.run(lambda note: self.client.call_tool(tool, arguments, progress_callback=note))

    def call(self, tool: str, arguments: Json) -> Json:
        return self.start(tool, arguments).result()

    def request(self, method: str, params: Json) -> Json:
        from mcp import types

        if method == "tokenScopes":
            return {"scopes": self.login.storage.scopes}

        def complete(_: Any) -> Any:
            by_prompt = params["ref"]["type"] == "ref/prompt"
            ref = (types.PromptReference if by_prompt else types.ResourceTemplateReference)(
                **params["ref"]
            )
            return self.client.complete(
                ref, params["argument"], params.get("context", {}).get("arguments")
            )

        calls = {
            "listTools": lambda _: self.client.list_tools(),
            "listResources": lambda _: self.client.list_resources(cursor=params.get("cursor")),
            "listResourceTemplates": lambda _: self.client.list_resource_templates(),
            "readResource": lambda _: self.client.read_resource(params["uri"]),
            "listPrompts": lambda _: self.client.list_prompts(),
            "getPrompt": lambda _: self.client.get_prompt(params["name"], params.get("arguments")),
            "complete": complete,
        }
        return self.run(calls[method]).result()

    def close(self) -> None:
        self.loop.call_soon_threadsafe(self.stop.set)
        self.thread.join(30)
        assert not self.thread.is_alive(), "the Python client did not close"


def as_json(model: Any) -> Json:
    """Returns the JSON that the SDK's object stands for, as it is sent over the connection."""
    dumped: Json = model.model_dump(mode="json", by_alias=True, exclude_none=True)
    return dumped


@contextmanager
def connect(client: Client, target: Target, node_dir: Path) -> Iterator[Session]:
    session = (
        PythonSession(client, target)
        if client.sdk == "python"
        else BridgeSession(client, target, node_dir)
    )
    try:
        yield session
    finally:
        session.close()
