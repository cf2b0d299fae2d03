"""The relays count requests whatever the pieces in which they come."""

from collections import Counter
from collections.abc import Callable

import pytest

from tests.support.counting_relays import Reader, bolt, grpc, mongo, nats

BOLT_MESSAGES = (
    b"\x60\x60\xb0\x17"
    + bytes(16)  # the handshake
    + b"\x00\x02\xb1\x01\x00\x00"  # HELLO
    + b"\x00\x02\xb1\x11\x00\x00"  # BEGIN
    + b"\x00\x02\xb3\x10\x00\x03\x10\x10\x10\x00\x00"  # RUN, in two chunks
    + b"\x00\x02\xb1\x3f\x00\x00"  # PULL
    + b"\x00\x00"  # a keep-alive
    + b"\x00\x02\xb3\x10\x00\x00"  # RUN
)
GRPC_FRAMES = (
    b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"
    b"\x00\x00\x00\x04\x00\x00\x00\x00\x00"  # settings
    b"\x00\x00\x03\x01\x04\x00\x00\x00\x01abc"  # headers
    b"\x00\x00\x02\x00\x01\x00\x00\x00\x01\x01\x01"  # data
    b"\x00\x00\x01\x01\x04\x00\x00\x00\x03a"  # headers
)


def mongo_message(command: bytes, code: int = 2013) -> bytes:
    """A command whose first member is a number."""
    document = b"\x10" + command + b"\0\1\0\0\0\0"
    body = bytes(5) + (len(document) + 4).to_bytes(4, "little") + document
    return (16 + len(body)).to_bytes(4, "little") + bytes(8) + code.to_bytes(4, "little") + body


MONGO_MESSAGES = b"".join(
    map(mongo_message, [b"hello", b"find", b"endSessions", b"update"])
) + mongo_message(b"x", 2012)
NATS_MESSAGES = (
    b"CONNECT {}\r\nPING\r\nSUB _INBOX.a.* 1\r\n"
    b"HPUB kb.v1.w.d.DocumentAdded _INBOX.a.1 14 18\r\nNATS/1.0\r\na:b\r\nPUB \r\n"
    b"PUB $JS.ACK.KB_EVENTS.merger.1 4\r\n+ACK\r\n"
    b"PUB $JS.API.CONSUMER.MSG.NEXT.KB_EVENTS.merger _INBOX.a.2 2\r\n{}\r\n"
    b"PUB $JS.API.STREAM.MSG.GET.KB_EVENTS _INBOX.a.3 0\r\n\r\n"
    b"PUB $JS.API.STREAM.INFO.KB_EVENTS _INBOX.a.4 0\r\n\r\nPUB $KV.KB_CHECKPOINTS.log 0\r\n\r\n"
)


@pytest.mark.parametrize(
    ("read", "content", "expected_counts"),
    [
        (bolt, BOLT_MESSAGES, {"statements": 2, "transactions": 1, "other": 2}),
        (grpc, GRPC_FRAMES, {"calls": 2}),
        (mongo, MONGO_MESSAGES, {"commands": 2}),
        (
            nats,
            NATS_MESSAGES,
            {"events": 1, "acknowledgements": 1, "fetches": 1, "looks": 2, "requests": 1},
        ),
    ],
)
@pytest.mark.parametrize("size", [1, 7, 10_000])
def test_requests_are_counted(
    read: Callable[[Counter[str]], Reader],
    content: bytes,
    expected_counts: dict[str, int],
    size: int,
) -> None:
    counts: Counter[str] = Counter()
    reader = read(counts)
    next(reader)
    for start in range(0, len(content), size):
        reader.send(content[start : start + size])
    assert counts == expected_counts
