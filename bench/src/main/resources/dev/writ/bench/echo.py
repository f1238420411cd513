"""An MCP server with one tool, which gives back its text."""

import json
import sys

TOOL = {
    "name": "echo",
    "description": "Gives back its text.",
    "inputSchema": {
        "type": "object",
        "properties": {"text": {"type": "string"}},
        "required": ["text"],
    },
}


def answer(message):
    if message["method"] == "initialize":
        return {
            "protocolVersion": message["params"]["protocolVersion"],
            "capabilities": {"tools": {}},
            "serverInfo": {"name": "echo", "version": "1"},
        }
    if message["method"] == "tools/list":
        return {"tools": [TOOL]}
    if message["method"] == "tools/call":
        text = message["params"]["arguments"]["text"]
        return {"content": [{"type": "text", "text": text}]}
    return None


for line in sys.stdin.buffer:
    message = json.loads(line)
    if "id" in message:
        result = answer(message)
        said = {"result": result} if result else {"error": {"code": -32601, "message": "no"}}
        sys.stdout.write(json.dumps({"jsonrpc": "2.0", "id": message["id"], **said}) + "\n")
        sys.stdout.flush()
