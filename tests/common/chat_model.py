"""A model behind HTTP for the tests of `assay bench`: chat completions as asked, slowly, or refused.

model.answers = {"gelu_tanh": "# fake: fail"}     # by operator; else "# fake: pass"
model.refuse_first = 2                            # that many requests are answered 429 first
model.refuse_with = 401                           # every request, until it is 0 again
"""

from __future__ import annotations

import json
import re
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

KEY = "sk-secret-of-this-test-0123456789"


class Model(ThreadingHTTPServer):
    """Each answer takes `delay_s` and follows `answers` for its operator."""

    delay_s = 0.0
    answers: dict[str, str] = {}

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.asked: list[str] = []  # the operators, request by request, that were answered
        self.requests = 0  # all of them
        self.refuse_first = 0
        self.refuse_with = 0

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}/v1"


class _Handler(BaseHTTPRequestHandler):
    server: Model

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        self.server.requests += 1
        if self.server.refuse_with:
            self._answer(self.server.refuse_with, {"error": {"message": "no such key " + KEY}}, {})
            return
        if self.server.refuse_first > 0:
            self.server.refuse_first -= 1
            self._answer(429, {"error": {"message": "slow down"}}, {"Retry-After": "0"})
            return
        found = re.search(r"^Operator: (\w+)$", body["messages"][-1]["content"], re.MULTILINE)
        assert found is not None
        self.server.asked.append(found[1])
        time.sleep(self.server.delay_s)
        code = self.server.answers.get(found[1], "# fake: pass")
        reply = {"message": {"content": f"```python\n{code}\n```"}, "finish_reason": "stop"}
        self._answer(200, {"choices": [reply], "usage": {"prompt_tokens": 100, "completion_tokens": 10}}, {})

    def _answer(self, status: int, body: dict[str, Any], headers: dict[str, str]) -> None:
        payload = json.dumps(body).encode()
        self.send_response(status)
        for name, value in {**headers, "Content-Length": str(len(payload))}.items():
            self.send_header(name, value)
        self.end_headers()
        try:
            self.wfile.write(payload)
        except BrokenPipeError:  # the bench was killed meanwhile
            self.close_connection = True

    def log_message(self, *_: Any) -> None:
        """Quiet."""


def env_of(model: Model) -> dict[str, str]:
    return {"ASSAY_LLM_BASE_URL": model.url, "ASSAY_LLM_API_KEY": KEY}
