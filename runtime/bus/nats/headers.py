"""Headers of messages as the client reads them, whatever a publisher wrote there.

The server stores what it is sent. nats-py 2.16.0 ends its reading of the connection at a block of
less than nine bytes, and takes a header `Status` for an answer of the server: one such message in
the log would stop every reader of it.
"""

from functools import partial
from typing import Any

from nats.aio.client import Client
from nats.js.api import Header

_PLAIN, _STATUS = b"NATS/1.0\r\n", b"NATS/1.0 "
"""How a block begins; the second only where the server answers, for it takes a status out of what
it stores.
"""


def tolerate_any_headers(client: Client) -> None:
    """Have this client read every block of headers, and take statuses from the server alone."""
    client._process_headers = partial(_read_headers, client._process_headers)  # pyright: ignore


async def _read_headers(read: Any, block: bytes | None) -> dict[str, str] | None:
    """Return the headers of a block by `read`, which must not see a block that begins in another
    way.
    """
    if not block or block.startswith(_STATUS):
        return await read(block)
    headers: dict[str, str] | None = await read(
        block if block.startswith(_PLAIN) else _PLAIN + block
    )
    if headers:
        headers.pop(Header.STATUS, None)
    return headers
