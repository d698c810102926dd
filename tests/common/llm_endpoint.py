"""Defines a fake OpenAI-compatible endpoint on a loopback port. A test sets its answers and errors.

with Endpoint() as endpoint:
    # The code with which requests for vector_add are answered. Requests for other operators are
    # answered with "# fake: pass".
    endpoint.answers["vector_add"] = "# fake: fail"
    # Replies to the first requests.
    endpoint.first = [error(429, "slow down", Retry_After="0")]
    # The reply to all later requests, until it is None again.
    endpoint.always = error(401, "no such key")
    assay("bench", ..., **env_of(endpoint))
"""

from __future__ import annotations

import json
import re
import threading
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

KEY = "sk-secret-of-this-test-0123456789"
LONGEST_HOLD_S = 300.0  # after this time a held reply is sent, so that a failed test ends
PROMPT_TOKENS, COMPLETION_TOKENS = 100, 10  # usage of each reply


@dataclass(frozen=True)
class Reply:
    """A response that the endpoint sends instead of a good answer."""

    status: int = 200
    body: bytes = b""
    headers: dict[str, str] = field(default_factory=dict)
    missing_bytes: int = 0  # Content-Length counts these bytes, but they are not sent
    held: bool = False  # the reply is sent only after go_on(), or after LONGEST_HOLD_S


def error(status: int, message: str, **headers: str) -> Reply:
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    return Reply(status, json.dumps({"error": {"message": message}}).encode(), named)


def completion(content: str | None, usage: dict[str, int] | None, finish: str = "stop") -> bytes:
    choice = {"message": {"role": "assistant", "content": content}, "finish_reason": finish}
    return json.dumps({"choices": [choice]} | ({"usage": usage} if usage else {})).encode()


class Endpoint(ThreadingHTTPServer):
    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.asked: list[str] = []  # the operators of all requests with a good answer
        self.keys: set[str] = set()  # all received Authorization headers
        self.models: set[str] = set()
        self.requests = 0
        self.answers: dict[str, str] = {}
        self.contents: dict[
            str, str | None
        ] = {}  # whole replies by operator, instead of a block of code
        self.finish: dict[str, str] = {}  # the finish_reason by operator, instead of "stop"
        self.usage: dict[str, int] | None = {
            "prompt_tokens": PROMPT_TOKENS,
            "completion_tokens": COMPLETION_TOKENS,
        }
        self.first: list[Reply] = []
        self.always: Reply | None = None
        self.lock = threading.Lock()
        self._at_once: int | None = None  # how many good answers are sent before go_on()
        self._going_on, self._was_asked = threading.Event(), threading.Event()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}/v1"

    def __enter__(self) -> Endpoint:
        threading.Thread(target=self.serve_forever, daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        self.go_on()
        self.shutdown()
        self.server_close()

    def hold(self, at_once: int) -> None:
        """Sends `at_once` good answers, and each further one only after go_on()."""
        self._at_once = at_once

    def go_on(self) -> None:
        self._going_on.set()

    def wait_to_go_on(self) -> None:
        self._going_on.wait(LONGEST_HOLD_S)

    def wait_until_asked(self) -> None:
        self._was_asked.wait()

    def note_asked(self, operator: str) -> bool:
        """Notes a request for a good answer. Returns whether its answer is held."""
        with self.lock:
            self.asked.append(operator)
            self._was_asked.set()
            return self._at_once is not None and len(self.asked) > self._at_once

    def content_for(self, operator: str) -> str | None:
        if operator in self.contents:
            return self.contents[operator]
        return f"```python\n{self.answers.get(operator, '# fake: pass')}\n```"


class _Handler(BaseHTTPRequestHandler):
    server: Endpoint

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        with self.server.lock:
            self.server.requests += 1
            self.server.keys.add(self.headers.get("Authorization", ""))
            self.server.models.add(body["model"])
            reply = self.server.first.pop(0) if self.server.first else self.server.always
        self._send(reply or self._good(body["messages"][-1]["content"]))

    def _good(self, prompt: str) -> Reply:
        found = re.search(r"^Operator: (\w+)$", prompt, re.MULTILINE) or re.search(
            r"^ok: (\w+): ", prompt, re.MULTILINE
        )  # the spec in the format of fetch_spec
        assert found is not None
        held = self.server.note_asked(found[1])
        return Reply(
            body=completion(
                self.server.content_for(found[1]),
                self.server.usage,
                self.server.finish.get(found[1], "stop"),
            ),
            held=held,
        )

    def _send(self, reply: Reply) -> None:
        if reply.held:
            self.server.wait_to_go_on()
        self.send_response(reply.status)
        for name, value in {
            **reply.headers,
            "Content-Length": str(len(reply.body) + reply.missing_bytes),
        }.items():
            self.send_header(name, value)
        self.end_headers()
        self.close_connection = self.close_connection or reply.missing_bytes > 0
        try:
            self.wfile.write(reply.body)
        except (
            BrokenPipeError,
            ConnectionResetError,
        ):  # the client was killed or closed the connection
            self.close_connection = True

    def log_message(self, *_: Any) -> None:
        """Prints nothing."""


def env_of(endpoint: Endpoint) -> dict[str, str]:
    return {"ASSAY_LLM_BASE_URL": endpoint.url, "ASSAY_LLM_API_KEY": KEY}
