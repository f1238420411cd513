"""An MCP server over HTTP for tests, with an authorization server at the same origin."""
import base64
import hashlib
import http.server
import json
import sys
import urllib.parse

TOKEN = "token-nobody-may-see-1"
REFRESH = "token-nobody-may-see-refresh"
asked = {}


def tools():
    number = {"type": "number"}
    schema = {"type": "object", "properties": {"a": number, "b": number}, "required": ["a", "b"]}
    return [{"name": "add", "description": "Adds two numbers.", "inputSchema": schema}]


class Handler(http.server.BaseHTTPRequestHandler):
    def log_message(self, *_):
        pass

    def say(self, status, value=None, **headers):
        body = b"" if value is None else json.dumps(value).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        for name, text in headers.items():
            self.send_header(name.replace("_", "-"), text)
        self.end_headers()
        self.wfile.write(body)

    def origin(self):
        return "http://" + self.headers["Host"]

    def do_GET(self):
        path, _, query = self.path.partition("?")
        if path == "/.well-known/oauth-protected-resource/mcp":
            origin = self.origin()
            self.say(200, {"resource": origin + "/mcp", "authorization_servers": [origin]})
        elif path == "/.well-known/oauth-authorization-server":
            origin = self.origin()
            self.say(
                200,
                {
                    "issuer": origin,
                    "authorization_endpoint": origin + "/authorize",
                    "token_endpoint": origin + "/token",
                    "registration_endpoint": origin + "/register",
                    "code_challenge_methods_supported": ["S256"],
                },
            )
        elif path == "/authorize":
            asked.update(urllib.parse.parse_qsl(query))
            self.say(302, Location=asked["redirect_uri"] + "?code=c1&state=" + asked["state"])
        else:
            self.say(405)

    def do_POST(self):
        content = self.rfile.read(int(self.headers["Content-Length"]))
        if self.path == "/register":
            self.say(201, {"client_id": "client"})
        elif self.path == "/token":
            form = dict(urllib.parse.parse_qsl(content.decode()))
            digest = hashlib.sha256(form["code_verifier"].encode()).digest()
            proof = base64.urlsafe_b64encode(digest).decode().rstrip("=")
            if form["code"] == "c1" and proof == asked["code_challenge"]:
                self.say(
                    200,
                    {"access_token": TOKEN, "refresh_token": REFRESH, "token_type": "bearer"},
                )
            else:
                self.say(400, {"error": "invalid_grant"})
        elif self.headers["Authorization"] != "Bearer " + TOKEN:
            self.say(401, WWW_Authenticate="Bearer")
        else:
            self.answer(json.loads(content))

    def answer(self, message):
        if message["method"] == "server/discover":
            result = {"supportedVersions": ["2026-07-28"], "capabilities": {"tools": {}}}
        elif message["method"] == "tools/list":
            result = {"tools": tools()}
        else:
            args = message["params"]["arguments"]
            text = str(args["a"] + args["b"]) + " for " + self.headers["Authorization"]
            result = {"content": [{"type": "text", "text": text}]}
        self.say(200, {"jsonrpc": "2.0", "id": message["id"], "result": result})


server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
print(server.server_port, flush=True)
server.serve_forever()
