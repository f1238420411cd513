"""HTTP/1.1 by the standard library: with threads, and with asyncio.

Both open a connection for each call that needs one and keep it for the next. Redirects are not followed, since nothing of Writ sends
one. asyncio has no HTTP client in the standard library; what this one needs of HTTP is a request with a length and an answer by
length or by chunks, which is less code than a thread for each call would need to be cancelled safely.
"""

from __future__ import annotations

import asyncio
import http.client
import os
import selectors
import ssl
import threading
import time
import urllib.parse
import weakref
from typing import AsyncIterator, Iterator, Mapping, Optional

from ._api import Call, Reply
from ._errors import NoAnswer, NotBelieved, WritError
from ._model import media_type, refusal

HEAD_BYTES_MAX = 64 << 10
_LOOPBACK = ("127.0.0.1", "localhost", "::1")


class Address:
    """Where the server is. Secrets go over TLS, or stay on this machine."""

    def __init__(self, url: str, ca_file: Optional[str]) -> None:
        try:
            parts = urllib.parse.urlsplit(url)
            port = parts.port
        except ValueError as e:  # its text may have a password, which urlsplit takes for the port
            raise WritError("GWY-064", "its host or its port is none") from e
        if parts.scheme not in ("http", "https") or not parts.hostname:
            raise WritError("GWY-064", "a server's address is http://… or https://…")
        if parts.username or parts.query or parts.fragment:
            raise WritError("GWY-064", "it has a user, a query or a fragment")
        self.host: str = parts.hostname
        self.tls: Optional[ssl.SSLContext] = None
        if parts.scheme == "https":
            self.tls = ssl.create_default_context(cafile=ca_file)
        elif self.host not in _LOOPBACK:
            raise WritError("GWY-064", "http:// is for this machine alone; take https://")
        self.port: int = port or (443 if self.tls else 80)
        self.prefix = parts.path.rstrip("/")

    def target(self, call: Call) -> str:
        return self.prefix + call.path

    def __str__(self) -> str:
        return f"{'https' if self.tls else 'http'}://{self.host_header()}"

    def host_header(self) -> str:
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"{host}:{self.port}"


class Threads:
    """Connections that no thread uses are kept for whichever comes next, as long as the server keeps them."""

    def __init__(self, address: Address, timeout: float) -> None:
        self._address = address
        self._timeout = timeout
        self._lock = threading.Lock()
        self._open: set[http.client.HTTPConnection] = set()
        self._idle: list[http.client.HTTPConnection] = []
        _OF_THIS_PROCESS.add(self)

    def forked(self) -> None:
        """In the child of a fork: the connections stay the parent's, whose answers would be read here, and ours there. A thread
        that had the lock is not here to give it back."""
        self._lock = threading.Lock()
        idle, self._idle, self._open = self._idle, [], set()
        for connection in idle:
            connection.close()  # this process's copy; the parent's stays open

    def _take(self) -> http.client.HTTPConnection:
        """A connection of this call alone. One that the server has closed meanwhile is none: what may not be sent twice would
        be told as unanswered on it, though nothing of it had left."""
        while True:
            with self._lock:
                connection = self._idle.pop() if self._idle else None
            if connection is None:
                return self._connect()
            if not _has_ended(connection):
                return connection
            self._end(connection)

    def _keep(self, connection: http.client.HTTPConnection) -> None:
        with self._lock:
            if connection in self._open:  # else the client was closed
                self._idle.append(connection)

    def _connect(self) -> http.client.HTTPConnection:
        a = self._address
        connection: http.client.HTTPConnection
        if a.tls:
            connection = http.client.HTTPSConnection(
                a.host, a.port, timeout=self._timeout, context=a.tls
            )
        else:
            connection = http.client.HTTPConnection(a.host, a.port, timeout=self._timeout)
        try:
            connection.connect()
        except OSError as e:
            raise _no_connection(a, e) from e
        with self._lock:
            self._open.add(connection)
        return connection

    def _end(self, connection: http.client.HTTPConnection) -> None:
        connection.close()
        with self._lock:
            self._open.discard(connection)

    def _send(self, connection: http.client.HTTPConnection, call: Call) -> http.client.HTTPResponse:
        headers = {"Accept-Encoding": "identity", **call.headers}
        if call.body is None and call.method != "GET":
            headers["Content-Length"] = "0"
        connection.request(call.method, self._address.target(call), call.body, headers)
        return connection.getresponse()

    def send(self, call: Call) -> Reply:
        connection = self._take()
        keep = False
        try:
            response = self._send(connection, call)
            body = _read(response, call.bytes_max + 1, self._timeout)
            keep = len(body) <= call.bytes_max and not response.will_close
        except (OSError, http.client.HTTPException) as e:
            raise _no_answer(self._address, e) from e
        finally:
            if keep:
                self._keep(connection)
            else:
                self._end(connection)
        if len(body) > call.bytes_max:
            raise NotBelieved(f"an answer of more than {call.bytes_max} bytes")
        return Reply(
            response.status, {k.lower(): v for k, v in response.getheaders()}, body
        )

    def stream(self, call: Call) -> Iterator[bytes]:
        connection = self._connect()
        try:
            response = self._send(connection, call)
            content_type = response.getheader("Content-Type")
            if not _follows(response.status, content_type):
                raise refusal(response.status, content_type, _read(response, 1 << 20, self._timeout))
            while piece := response.read1(1 << 16):
                yield piece
        except (OSError, http.client.HTTPException) as e:
            raise _no_answer(self._address, e) from e
        finally:
            self._end(connection)

    def close(self) -> None:
        with self._lock:
            connections, self._open, self._idle = self._open, set(), []
        for connection in connections:
            connection.close()


_OF_THIS_PROCESS: weakref.WeakSet[Threads] = weakref.WeakSet()


def _forked() -> None:
    for each in list(_OF_THIS_PROCESS):
        each.forked()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forked)


def _no_connection(address: Address, e: Exception) -> NoAnswer:
    return NoAnswer(f"no connection to {address}: {_why(e)}", sent=False)


def _no_answer(address: Address, e: Exception) -> NoAnswer:
    return NoAnswer(f"no answer from {address}: {_why(e)}", sent=True)


def _why(e: Exception) -> str:
    """What failed below. Of the system and of TLS in their words; other texts may be what a stranger sent."""
    said = str(e) if isinstance(e, OSError) else ""
    return f"{type(e).__name__}: {said}" if said else type(e).__name__


def _follows(status: int, content_type: Optional[str]) -> bool:
    """Whether these are events: a page that somebody else answers with would be read again and again."""
    return status == 200 and media_type(content_type) == "text/event-stream"


def _read(response: http.client.HTTPResponse, most: int, within: float) -> bytes:
    """The body, or the beginning of a longer one. The socket's own time begins anew with each byte; here each 64 KiB has that
    time, so that what comes drop by drop is no answer."""
    stated = response.length
    body = bytearray()
    begun, until = 0, time.monotonic() + within
    while len(body) < most and (stated is None or len(body) < stated):
        piece = response.read1(min(1 << 16, most - len(body)))
        if not piece:
            break
        body += piece
        if len(body) - begun >= 1 << 16:
            begun, until = len(body), time.monotonic() + within
        elif time.monotonic() > until:
            raise TimeoutError("too little came for too long")
    if stated is not None and len(body) < min(most, stated):
        raise http.client.IncompleteRead(bytes(body), stated - len(body))
    if len(body) < most:
        response.close()  # of the answer, not of the connection: read1 leaves it open
    return bytes(body)


def _has_ended(connection: http.client.HTTPConnection) -> bool:
    """Whether there is something to read where nothing was asked: the end, as a rule."""
    if connection.sock is None:
        return True
    with selectors.DefaultSelector() as selector:
        selector.register(connection.sock, selectors.EVENT_READ)
        return bool(selector.select(0))


class Loop:
    """The same over asyncio's streams. A cancelled call closes its connection."""

    def __init__(self, address: Address, timeout: float) -> None:
        self._address = address
        self._timeout = timeout
        self._idle: list[_Connection] = []

    async def _connection(self) -> _Connection:
        while self._idle:
            connection = self._idle.pop()
            if connection.usable():
                return connection
            connection.close()
        a = self._address
        try:
            reader, writer = await asyncio.wait_for(
                asyncio.open_connection(a.host, a.port, ssl=a.tls, limit=HEAD_BYTES_MAX),
                self._timeout,
            )
        except (OSError, asyncio.TimeoutError) as e:
            raise _no_connection(a, e) from e
        return _Connection(reader, writer, a)

    async def send(self, call: Call) -> Reply:
        connection = await self._connection()
        keep = False
        try:
            status, headers, body = await asyncio.wait_for(
                self._whole(connection, call), self._timeout
            )
            keep = headers.get("connection", "").lower() != "close"
        except (OSError, EOFError, ValueError, asyncio.TimeoutError, asyncio.LimitOverrunError) as e:
            raise _no_answer(self._address, e) from e
        finally:
            if keep:
                self._idle.append(connection)
            else:
                connection.close()
        return Reply(status, headers, body)

    @staticmethod
    async def _whole(connection: _Connection, call: Call) -> tuple[int, dict[str, str], bytes]:
        status, headers = await connection.ask(call)
        body = b""
        async for piece in connection.pieces(headers):
            body += piece
            if len(body) > call.bytes_max:
                raise NotBelieved(f"an answer of more than {call.bytes_max} bytes")
        return status, headers, body

    async def stream(self, call: Call) -> AsyncIterator[bytes]:
        connection = await self._connection()
        try:
            status, headers = await asyncio.wait_for(connection.ask(call), self._timeout)
            pieces = connection.pieces(headers)
            content_type = headers.get("content-type")
            follows = _follows(status, content_type)
            body = b""
            while piece := await asyncio.wait_for(anext(pieces, b""), self._timeout):
                if follows:
                    yield piece
                else:
                    body += piece
                    if len(body) > 1 << 20:
                        break
            if not follows:
                raise refusal(status, content_type, body)
        except (OSError, EOFError, ValueError, asyncio.TimeoutError, asyncio.LimitOverrunError) as e:
            raise _no_answer(self._address, e) from e
        finally:
            connection.close()

    def close(self) -> None:
        idle, self._idle = self._idle, []
        for connection in idle:
            connection.close()


class _Connection:
    def __init__(
        self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, address: Address
    ) -> None:
        self._reader = reader
        self._writer = writer
        self._address = address
        self._loop = asyncio.get_running_loop()

    def usable(self) -> bool:
        """Not where it is of another loop, such as that of an `asyncio.run` before this one."""
        here = self._loop is asyncio.get_running_loop()
        return here and not self._reader.at_eof() and not self._writer.is_closing()

    def close(self) -> None:
        try:
            here = asyncio.get_running_loop()
        except RuntimeError:
            here = None
        if self._loop is here:
            self._writer.close()
        elif not self._loop.is_closed():  # with its loop it ends by itself
            self._loop.call_soon_threadsafe(self._writer.close)

    async def ask(self, call: Call) -> tuple[int, dict[str, str]]:
        self._writer.write(_head(call, self._address))
        if call.body:
            self._writer.write(call.body)
        await self._writer.drain()
        while True:
            head = (await self._reader.readuntil(b"\r\n\r\n")).decode("latin-1").split("\r\n")
            status = int(head[0].split(" ", 2)[1])
            if status != 100:
                break
        headers: dict[str, str] = {}
        for line in head[1:]:
            name, _, value = line.partition(":")
            if name:
                headers[name.strip().lower()] = value.strip()
        return status, headers

    async def pieces(self, headers: Mapping[str, str]) -> AsyncIterator[bytes]:
        if headers.get("transfer-encoding", "").lower() == "chunked":
            while size := int((await self._reader.readline()).split(b";")[0], 16):
                left = size
                while left:
                    piece = await self._piece(left)
                    left -= len(piece)
                    yield piece
                await self._reader.readexactly(2)
            while (await self._reader.readline()).strip():
                pass
        elif "content-length" in headers:
            left = int(headers["content-length"])
            while left > 0:
                piece = await self._piece(left)
                left -= len(piece)
                yield piece
        else:
            while piece := await self._reader.read(1 << 16):
                yield piece

    async def _piece(self, left: int) -> bytes:
        piece = await self._reader.read(min(left, 1 << 16))
        if not piece:
            raise EOFError("the answer ends early")
        return piece


def _head(call: Call, address: Address) -> bytes:
    headers = {"Host": address.host_header(), "Accept-Encoding": "identity", **call.headers}
    if call.body is not None or call.method != "GET":
        headers["Content-Length"] = str(len(call.body or b""))
    lines = [f"{call.method} {address.target(call)} HTTP/1.1"]
    lines += [f"{name}: {value}" for name, value in headers.items()]
    head = "\r\n".join(lines)
    if any(c in "\r\n" for value in headers.values() for c in value):
        raise ValueError("a line end in a header")
    return (head + "\r\n\r\n").encode("latin-1")
