"""A line to a PostgreSQL server that can lose the answer to a COMMIT.

    line.py FROM TO

Passes on what comes to the port FROM of loopback to the port TO, and back. After SIGUSR1 the next COMMIT of a
client is passed on to the server, and both connections are closed when its answer comes, which the client never
sees: it cannot know whether that was written. What was lost so is said on standard error.
"""

import asyncio
import signal
import struct
import sys

# Requests for encryption, behind which the real beginning follows.
BEFORE_THE_BEGINNING = (80877103, 80877104)


class Line:
    """Says whether the next COMMIT loses its answer."""

    def __init__(self, target):
        self.target = target
        self.armed = False

    def arm(self):
        self.armed = True

    async def connected(self, client, to_client):
        try:
            server, to_server = await asyncio.open_connection("127.0.0.1", self.target)
        except OSError:
            to_client.close()
            return
        connection = Connection(self, to_client, to_server)
        await asyncio.gather(connection.requests(client), connection.answers(server))


class Connection:
    """A client's connection and the one to the server that belongs to it."""

    def __init__(self, line, to_client, to_server):
        self.line = line
        self.to_client = to_client
        self.to_server = to_server
        self.losing = False
        self.prepared = {}

    def close(self):
        self.to_client.close()
        self.to_server.close()

    async def requests(self, client):
        try:
            await self.beginning(client)
            while True:
                head = await client.readexactly(5)
                body = await client.readexactly(struct.unpack("!i", head[1:])[0] - 4)
                if self.is_commit(head[:1], body) and self.line.armed:
                    self.line.armed = False
                    self.losing = True
                self.to_server.write(head + body)
                await self.to_server.drain()
        except (OSError, EOFError):
            self.close()

    async def beginning(self, client):
        code = BEFORE_THE_BEGINNING[0]
        while code in BEFORE_THE_BEGINNING:
            head = await client.readexactly(8)
            length, code = struct.unpack("!ii", head)
            self.to_server.write(head + await client.readexactly(length - 8))

    def is_commit(self, kind, body):
        if kind == b"Q":
            return body.startswith(b"COMMIT")
        if kind == b"P":
            name, text = body.split(b"\0", 2)[:2]
            self.prepared[name] = text
        if kind == b"B":
            return self.prepared.get(body.split(b"\0", 2)[1], b"").startswith(b"COMMIT")
        return False

    async def answers(self, server):
        try:
            while True:
                block = await server.read(1 << 16)
                if not block:
                    break
                if self.losing:
                    print("the answer to a COMMIT was lost", file=sys.stderr, flush=True)
                    break
                self.to_client.write(block)
                await self.to_client.drain()
        except OSError:
            pass
        self.close()


async def main():
    line = Line(int(sys.argv[2]))
    asyncio.get_running_loop().add_signal_handler(signal.SIGUSR1, line.arm)
    listening = await asyncio.start_server(line.connected, "127.0.0.1", int(sys.argv[1]))
    async with listening:
        await listening.serve_forever()


asyncio.run(main())
