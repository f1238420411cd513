"""What the client with threads does with its connections, against a server of a few lines."""

import asyncio
import http.server
import os
import threading

import writ


class Server(http.server.ThreadingHTTPServer):
    """Counts connections, and tells when it has ended one."""

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Answer)
        self.accepted = 0
        self.ended = threading.Semaphore(0)
        self.patience = 60.0
        self.asked: list[str] = []
        self.quiet = 0
        self.says = (200, "text/html")
        self.gone = threading.Event()
        threading.Thread(target=self.serve_forever, daemon=True).start()

    def process_request(self, request, client_address):
        self.accepted += 1
        super().process_request(request, client_address)

    def shutdown_request(self, request):
        super().shutdown_request(request)
        self.ended.release()


class Answer(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def answer(self) -> None:
        self.server.asked.append(self.path)
        body = self.body()
        if "/stranger/" in self.path:
            self.stranger(body)
            return
        self.send_response(200)
        events = "/events" in self.path and "/page/" not in self.path
        self.send_header("Content-Type", "text/event-stream" if events else "application/json")
        if "/cut/" in self.path and len(self.server.asked) < 3:
            self.send_header("Content-Length", str(len(body) + 1))
            self.end_headers()
            self.wfile.write(body)
            self.close_connection = True
            return
        silent = "/silent/" in self.path
        drops = (1 << 30) * ("/drops/" in self.path)
        self.send_header("Content-Length", str(len(body) + silent + drops))
        self.end_headers()
        self.wfile.write(body)
        self.wfile.flush()
        if "/drops/" in self.path:
            self.drop()
        self.connection.settimeout(self.server.patience)

    def stranger(self, body: bytes) -> None:
        status, media_type = self.server.says
        body = b"" if status == 204 else body
        self.send_response(status)
        self.send_header("Content-Type", media_type)
        self.send_header("Location", "/login")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def drop(self) -> None:
        """Byte by byte, until the client has gone."""
        try:
            while not self.server.gone.wait(0.01):
                self.wfile.write(b" ")
                self.wfile.flush()
        except OSError:
            self.server.gone.set()

    def body(self) -> bytes:
        if "/outcome" in self.path:
            return b'{"state":"pending"}'
        if "/silent/" in self.path:
            return b""
        if "/events" not in self.path:
            return b"{}"
        if len(self.server.asked) <= self.server.quiet:
            return b":\n\n"
        opened = {"at": "", "body": "", "kind": "run.opened", "seq": 0}
        prev = writ.digest(writ.canonicalize(opened))
        closed = {"at": "", "body": "", "kind": "run.closed", "prev": prev, "seq": 1}
        told = (closed,) if self.headers.get("Last-Event-ID") == "1" else (opened, closed)
        lines = [b"data: " + writ.canonicalize(event) + b"\n\n" for event in told]
        return b"".join(lines)

    do_GET = do_POST = do_PUT = answer

    def log_message(self, format, *args):
        pass


def client(server: Server, **settings: float) -> writ.Client:
    url = f"http://127.0.0.1:{server.server_port}"
    who = writ.Token("acme", "agent", "writ_token")
    return writ.Client(url, who, writ.Pinned([], "origin"), settings=writ.Settings(**settings))


# A server closes a connection on which nothing comes. What may not be sent twice is sent on another one, and not told as
# unanswered: whoever approves has thought for longer than that.
server = Server()
server.patience = 0.05
with client(server) as quiet:
    quiet.get("/v1/approvals")
    assert server.ended.acquire(timeout=60)
    quiet.cancel("sha256:00")
assert server.accepted == 2, server.accepted

# A thread that has ended leaves no connection behind.
server = Server()
with client(server) as shared:
    for _ in range(20):
        thread = threading.Thread(target=shared.get, args=("/v1/runs",))
        thread.start()
        thread.join()
assert server.accepted == 1, server.accepted

# Threads at the same time have one each.
server = Server()
with client(server) as shared:
    threads = [threading.Thread(target=shared.get, args=("/v1/runs",)) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(server.asked) == 8
    assert server.accepted <= 8, server.accepted

# A process that was forked takes connections of its own: on its parent's each would read answers of the other.
server = Server()
with client(server) as shared:
    shared.get("/v1/runs")
    child = os.fork()
    if child == 0:
        status = 1
        try:
            shared.get("/v1/runs")
            shared.get("/v1/runs")
            status = 0
        finally:
            os._exit(status)
    assert os.waitpid(child, 0)[1] == 0
    shared.get("/v1/runs")
assert server.accepted == 2, server.accepted
assert len(server.asked) == 4, server.asked

# An answer that ends too early is none: what may be is asked again, with threads and with asyncio.
server = Server()
with client(server) as cut:
    cut._run(cut._api.get("/v1/cut/"))
assert len(server.asked) == 3, server.asked


async def ask_again() -> None:
    url = f"http://127.0.0.1:{server.server_port}"
    async with writ.AsyncClient(url, writ.Token("acme", "agent", "writ_token"), writ.Pinned([], "origin")) as again:
        await again._run(again._api.get("/v1/cut/"))


server = Server()
asyncio.run(asyncio.wait_for(ask_again(), 60))
assert len(server.asked) == 3, server.asked

# What comes drop by drop is none either, though no single drop is late.
server = Server()
with client(server, retry_for=0.0, answer_within=0.2) as listening:
    try:
        listening._run(listening._api.get_json("/v1/drops/"))
    except writ.NoAnswer:
        pass
    else:
        raise AssertionError("it was taken for an answer")
server.gone.set()


def refuses(ask) -> None:
    try:
        ask()
    except writ.NotBelieved:
        return
    raise AssertionError("it was believed")


# A redirect, a page and somebody else's server say of nothing that it was done.
for says in [(302, "text/html"), (404, "text/plain"), (200, "text/html; charset=utf-8"), (204, "text/plain")]:
    server = Server()
    server.says = says
    with client(server) as believing:
        get = f"/stranger/{says[0]}"
        refuses(lambda: believing._run(believing._api.get(get)))
        refuses(lambda: believing.cancel("sha256:00/stranger/"))
    assert len(server.asked) == 2, server.asked
server = Server()
with client(server) as believing:
    refuses(lambda: believing.put(b"content"))  # {} names no content
    refuses(lambda: next(believing.events("page")))

# Where nobody listens, the address is told, and what the system says of it.
with http.server.HTTPServer(("127.0.0.1", 0), Answer) as nobody:
    closed_port = nobody.server_port
here = f"http://127.0.0.1:{closed_port}"
token, never = writ.Token("acme", "agent", "writ_token"), writ.Settings(retry_for=0.0)
told = []
with writ.Client(here, token, writ.Pinned([], "origin"), settings=never) as alone:
    try:
        alone.get("/v1/runs")
    except writ.NoAnswer as e:
        told.append(e)


async def alone_again() -> None:
    async with writ.AsyncClient(here, token, writ.Pinned([], "origin"), settings=never) as alone:
        try:
            await alone.get("/v1/runs")
        except writ.NoAnswer as e:
            told.append(e)


asyncio.run(alone_again())
assert len(told) == 2, told
for e in told:
    assert f"no connection to {here}: ConnectionRefusedError: [Errno " in str(e), e
    assert not e.sent

# An address that is none is refused with a code, and nothing of it is told, since it may have a password.
for wrong in ("http://127.0.0.1:secret", "http://127.0.0.1:99999", "http://[::1", "127.0.0.1:8181", ""):
    try:
        writ.Client(wrong, token, writ.Pinned([], "origin"))
    except writ.WritError as e:
        assert e.code == "GWY-064" and "secret" not in str(e), e
    else:
        raise AssertionError(wrong)

# A client of asyncio outlives the loop in which it was made: a connection of the loop before is not taken again.
server = Server()
outlives = writ.AsyncClient(f"http://127.0.0.1:{server.server_port}", token, writ.Pinned([], "origin"))
for _ in range(2):
    assert asyncio.run(outlives.get("/v1/runs")) == {}
asyncio.run(outlives.close())
assert server.accepted == 2, server.accepted

# Who follows a run that is quiet comes back as often as the connection ends.
server = Server()
server.quiet = 8
with client(server, retry_for=0.4) as following:
    kinds = [event.kind for event in following.events("quiet")]
assert kinds == ["run.opened", "run.closed"], kinds

# Whoever has seen all of a closed run is told its end again, and that is all.
server = Server()
with client(server, retry_for=0.4) as following:
    assert list(following.events("whole", after=1)) == []

# One that has fallen silent is given up, with threads and with asyncio.
server = Server()
with client(server, retry_for=0.0, answer_within=0.2) as listening:
    try:
        next(listening.events("silent"))
    except writ.NoAnswer:
        pass
    else:
        raise AssertionError("it was followed")


async def listen() -> None:
    url = f"http://127.0.0.1:{server.server_port}"
    settings = writ.Settings(retry_for=0.0, answer_within=0.2)
    who = writ.Token("acme", "agent", "writ_token")
    async with writ.AsyncClient(url, who, writ.Pinned([], "origin"), settings=settings) as listening:
        try:
            await anext(listening.events("silent"))
        except writ.NoAnswer:
            return
        raise AssertionError("it was followed")


asyncio.run(asyncio.wait_for(listen(), 60))

# Who listens for a short time does not ask the server to think for longer.
server = Server()
outcome = writ.Outcome(writ.Request({}), "", {"request": "sha256:00", "verdict": "ESCALATE"})
with client(server, answer_within=9.0) as brief:
    brief.wait(outcome, 0.2)
    asked = brief._api.wait(outcome, 3600.0)
    assert next(asked).path.endswith("?wait_s=4")
print("kept and ended")
