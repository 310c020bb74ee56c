# SPDX-License-Identifier: Apache-2.0
"""A stand-in for the HTTP API of a language model, for tests and for the guide: it always says the same.

python model.py PORT
"""

import http.server
import json
import sys
import time
from collections.abc import Callable
from typing import Any

SAYS = [
    ("Let me look what that costs. ", ("search", "a kettle")),
    ("It is three euros, at the corner shop. I shall buy it if you agree. ", ("buy", "a kettle")),
    ("Done: the kettle is yours, and so is the bill. ", None),
]


class Model(http.server.ThreadingHTTPServer):
    """Counts the calls of each turn. event is told what happens to a call: "asked", "says", "ends", "answered"."""

    daemon_threads = True

    def __init__(self, port: int = 0, pause: float = 0.0, event: Callable[[str, int], None] = lambda what, turn: None) -> None:
        super().__init__(("127.0.0.1", port), Answer)
        self.pause, self.event = pause, event
        self.calls = 0
        self.url = f"http://127.0.0.1:{self.server_address[1]}/v1/chat/completions"

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A caller that was killed is no error of the model."""


class Answer(http.server.BaseHTTPRequestHandler):
    def do_POST(self) -> None:
        model = self.server
        assert isinstance(model, Model)
        messages = json.loads(self.rfile.read(int(self.headers["Content-Length"])))["messages"]
        turn = sum(message["role"] == "assistant" for message in messages)
        model.calls += 1
        model.event("asked", turn)
        text, tool = SAYS[min(turn, len(SAYS) - 1)]
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.end_headers()
        for word in text.split(" ")[:-1]:
            self.say({"content": word + " "})
            model.event("says", turn)
            time.sleep(model.pause)
        if tool is not None:
            function = {"name": tool[0], "arguments": json.dumps({"what": tool[1]})}
            self.say({"tool_calls": [{"id": f"call-{turn}", "type": "function", "function": function}]})
        model.event("ends", turn)
        self.wfile.write(b"data: [DONE]\n\n")
        model.event("answered", turn)

    def say(self, delta: dict[str, Any]) -> None:
        self.wfile.write(b"data: " + json.dumps({"choices": [{"delta": delta}]}).encode() + b"\n\n")

    def log_message(self, format: str, *args: object) -> None:
        pass


if __name__ == "__main__":
    Model(int(sys.argv[1]), pause=0.3).serve_forever()
