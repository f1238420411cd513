"""A loop of function calling, with a stand-in for the model. With an SDK, `model` is one call of its chat completions."""

import json
import os

import place
from writ.adapters.openai import Toolbox


def model(messages, tools):
    """Asks for more than policy allows, and then says what it was told."""
    assert any(tool["function"]["name"] == "js" for tool in tools)
    if messages[-1]["role"] == "user":
        return {
            "role": "assistant",
            "content": None,
            "tool_calls": [
                call("call_1", "js", {"source": "6*7"}),
                call("call_2", "js", {"source": "1" * 20001}),
                call("call_3", "js", {"source": "Math.random()"}),
                call("call_4", "rm", {}),
            ],
        }
    return {"role": "assistant", "content": " | ".join(m["content"] for m in messages[2:])}


def call(id, name, arguments):
    return {"id": id, "type": "function", "function": {"name": name, "arguments": json.dumps(arguments)}}


with place.client() as client:
    toolbox = Toolbox(client, only=lambda o: o.tool == "js", run=os.environ["WRIT_RUN"])
    messages = [{"role": "user", "content": "What is six times seven?"}]
    while True:
        message = model(messages, tools=toolbox.definitions)
        messages.append(message)
        if not message.get("tool_calls"):
            break
        messages += toolbox.answers(message)
    print(messages[-1]["content"])
    # The same message once more, as after an answer that got lost: what was done is not done again.
    assert toolbox.answers(messages[1])[2] == messages[4]
