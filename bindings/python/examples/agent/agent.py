# SPDX-License-Identifier: Apache-2.0
import json
import os
import urllib.request
from typing import Any

import pawl

app = pawl.App()

TOOLS = {
    "search": lambda what: f"{what}: 3 euros at the corner shop",
    "buy": lambda what: f"bought {what}",
}
NEEDS_APPROVAL = {"buy"}


def ask_model(messages: list[dict[str, Any]]) -> dict[str, Any]:
    """Calls the model once, streams what it says, and returns its message."""
    body = json.dumps({"model": "small", "stream": True, "messages": messages}).encode()
    headers = {"Content-Type": "application/json", "Idempotency-Key": pawl.current().key}
    message: dict[str, Any] = {"role": "assistant", "content": "", "tool_calls": []}
    with urllib.request.urlopen(urllib.request.Request(os.environ["MODEL_URL"], body, headers)) as reply:
        for line in reply:
            data = line.decode().removeprefix("data: ").strip()
            if data == "[DONE]":
                return message
            if data:
                delta = json.loads(data)["choices"][0]["delta"]
                message["tool_calls"] += delta.get("tool_calls", [])
                message["content"] += delta.get("content", "")
                pawl.current().stream(delta.get("content", ""))
    raise ConnectionError("the model has not finished its answer")


def call_tool(name: str, argument: str) -> str:
    return TOOLS[name](argument)


@app.workflow("agent.shopper.v1")
def shopper(ctx: pawl.Context, wish: str) -> str:
    messages: list[dict[str, Any]] = [{"role": "user", "content": wish}]
    for _ in range(20):
        message = ctx.step("model", ask_model, messages, retry=pawl.Retry(max_attempts=5, base=0.5), timeout=120)
        messages.append(message)
        if not message["tool_calls"]:
            return str(message["content"])
        for call in message["tool_calls"]:
            name, argument = call["function"]["name"], json.loads(call["function"]["arguments"])["what"]
            try:
                if name in NEEDS_APPROVAL:
                    ctx.wait_approval("approve", {"tool": name, "what": argument})
                result = ctx.step("tool", call_tool, name, argument)
            except pawl.Rejected as refused:
                result = f"a person refused: {refused}"
            messages.append({"role": "tool", "tool_call_id": call["id"], "content": result})
    raise pawl.Permanent("the model wants ever more tools", code="too_many_turns")
