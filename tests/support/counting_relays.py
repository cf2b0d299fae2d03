"""TCP relays that count the requests on their way to a server, by Bolt, gRPC, MongoDB's protocol or
NATS.

What is counted is on the wire, so it stays the same measure whatever driver sends it.
"""

import asyncio
import re
from collections import Counter
from collections.abc import AsyncGenerator, Callable, Generator
from contextlib import asynccontextmanager, closing, suppress
from dataclasses import dataclass, field

Reader = Generator[None, bytes, None]
"""Takes the bytes of one connection as they come."""

BOLT = {0x10: "statements", 0x11: "transactions"}
"""Tags of the messages RUN and BEGIN."""
BOLT_HANDSHAKE = 20
"""Bytes: the magic number and four versions."""

HTTP2_PREFACE = 24
HTTP2_FRAME = 9
HTTP2_HEADERS = 1
"""Bytes of the preface and of a frame's head; the type of the frame that begins a call."""

MONGO_HEAD = 16
MONGO_MESSAGE = 2013
"""Bytes of a message's head; the code of the messages that are commands."""
MONGO_OF_THE_DRIVER = re.compile(rb"[^\0]*(?:hello|isMaster|ismaster|ping|endSessions)\0")

NATS_KINDS = (
    ("events", re.compile(rb"kb\.")),
    ("acknowledgements", re.compile(rb"\$JS\.ACK\.")),
    ("fetches", re.compile(rb"\$JS\.API\.CONSUMER\.MSG\.NEXT\.")),
    (
        "looks",
        re.compile(
            rb"\$JS\.API\.(STREAM|CONSUMER)\.INFO\."
            rb"|(\$JS\.API\.STREAM\.MSG\.GET\.(KV_)?|\$KV\.)KB_(CHECKPOINTS|GENERATIONS|LIMITS|PARKED)\b"
        ),
    ),
    ("requests", re.compile(rb"\$JS\.API\.|\$KV\.|\$O\.")),
)
"""What a message published is for, by its subject.

How many fetches and looks there are depends on how long the work takes: nothing comes, or a few
seconds are over.
"""


@dataclass
class Relay:
    """Counts what goes from its port to that of a server, which may be named later."""

    read: Callable[[Counter[str]], Reader]
    counts: Counter[str] = field(default_factory=Counter[str])
    port: int = 0
    target: int = 0

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """One connection, until either end closes it."""
        counted = self.read(self.counts)
        next(counted)
        with suppress(OSError), closing(writer):
            upstream, downstream = await asyncio.open_connection("127.0.0.1", self.target)
            with closing(downstream):
                await asyncio.gather(
                    _pass(reader, downstream, counted.send), _pass(upstream, writer, lambda _: None)
                )


@asynccontextmanager
async def relaying(relay: Relay) -> AsyncGenerator[Relay]:
    """The relay on a free port, and on the same one whenever it is opened again: between the two
    the connection is cut.
    """
    connections: set[asyncio.Task[None]] = set()

    def accept(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.create_task(relay.serve(reader, writer))
        connections.add(task)
        task.add_done_callback(connections.discard)

    server = await asyncio.start_server(accept, "127.0.0.1", relay.port)
    relay.port = server.sockets[0].getsockname()[1]
    try:
        yield relay
    finally:
        server.close()
        for task in connections:
            task.cancel()
        await asyncio.gather(*connections, return_exceptions=True)


async def _pass(
    source: asyncio.StreamReader, sink: asyncio.StreamWriter, look: Callable[[bytes], None]
) -> None:
    while data := await source.read(65536):
        look(data)
        sink.write(data)
        await sink.drain()
    sink.close()


def uncounted(_: Counter[str]) -> Reader:
    """Nothing is counted."""
    while True:
        yield


def bolt(counts: Counter[str]) -> Reader:
    """Statements and transactions: a message is chunks with their lengths before them, up to one of
    length 0.
    """
    data = b""
    while len(data) < BOLT_HANDSHAKE:
        data += yield
    data = data[BOLT_HANDSHAKE:]
    begins = True
    while True:
        while len(data) < 2 or len(data) < 2 + int.from_bytes(data[:2]):
            data += yield
        size = int.from_bytes(data[:2])
        if begins and size > 1:
            counts[BOLT.get(data[3], "other")] += 1
        begins = size == 0
        data = data[2 + size :]


def grpc(counts: Counter[str]) -> Reader:
    """Calls: each begins with a frame of headers."""
    data = b""
    while len(data) < HTTP2_PREFACE:
        data += yield
    data = data[HTTP2_PREFACE:]
    while True:
        while len(data) < HTTP2_FRAME or len(data) < HTTP2_FRAME + int.from_bytes(data[:3]):
            data += yield
        counts["calls"] += data[3] == HTTP2_HEADERS
        data = data[HTTP2_FRAME + int.from_bytes(data[:3]) :]


def mongo(counts: Counter[str]) -> Reader:
    """Commands, but for those by which a driver keeps its connections."""
    data = b""
    while True:
        while len(data) < MONGO_HEAD or len(data) < int.from_bytes(data[:4], "little"):
            data += yield
        size = int.from_bytes(data[:4], "little")
        # Behind the head four bytes of flags, the kind of section, the length of the document, the
        # type of its first member, and the name of that: the command.
        name = data[MONGO_HEAD + 10 : size]
        if int.from_bytes(data[12:16], "little") == MONGO_MESSAGE and not MONGO_OF_THE_DRIVER.match(
            name
        ):
            counts["commands"] += 1
        data = data[size:]


def nats(counts: Counter[str]) -> Reader:
    """Messages published, by what they are for: `PUB subject [reply] size` or `HPUB … size`, then
    the payload.
    """
    data = b""
    while True:
        while b"\r\n" not in data:
            data += yield
        line, _, data = data.partition(b"\r\n")
        words = line.split()
        if words and words[0].upper() in (b"PUB", b"HPUB"):
            counts[
                next((kind for kind, pattern in NATS_KINDS if pattern.match(words[1])), "other")
            ] += 1
            size = int(words[-1]) + 2
            while len(data) < size:
                data += yield
            data = data[size:]
