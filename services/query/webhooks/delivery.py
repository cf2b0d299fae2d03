"""Sends one message to one endpoint, once."""

import json
import time
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, Protocol

from services.query.webhooks.addresses import AddressRefused, Network, Target, resolved
from services.query.webhooks.endpoints import Endpoint, Endpoints
from services.query.webhooks.signing import signed_headers

GONE = 410
"""The status by which a receiver says that it wants nothing more."""


@dataclass(frozen=True)
class Notification:
    """What is sent: its id is the same at every attempt."""

    id: str
    type: str
    timestamp: str
    data: dict[str, Any]

    @property
    def body(self) -> bytes:
        """Return the body, the same bytes at every attempt."""
        return json.dumps({"type": self.type, "timestamp": self.timestamp, "data": self.data}).encode()


@dataclass(frozen=True)
class Outcome:
    """How an attempt went: `error` is empty when the receiver took the message. `gone`: it wants no more."""

    status: int = 0
    error: str = ""
    gone: bool = False


class Poster(Protocol):
    """Sends a request to an address, follows no redirect, and reads no more of the answer than its status."""

    async def post(self, target: Target, headers: dict[str, str], body: bytes) -> int:
        """Return the status. Raises ConnectionRefusedError when nothing was sent, OSError when there is no answer."""
        ...


@dataclass(frozen=True)
class Webhooks:
    """The endpoints, how they are reached, and the private networks that they may be in."""

    endpoints: Endpoints
    poster: Poster
    allowed: Sequence[Network] = ()


async def deliver(webhooks: Webhooks, endpoint: Endpoint, message: Notification) -> Outcome:
    """Send the message. The host is resolved for this attempt, and no other address is connected to."""
    now = time.time()
    headers = {
        "content-type": "application/json",
        "user-agent": "lightstream-webhooks",
        **signed_headers(endpoint.secrets(now), message.id, int(now), message.body),
    }
    try:
        targets = await resolved(endpoint.url, webhooks.allowed)
        status = await _posted(webhooks.poster, targets, headers, message.body)
    except AddressRefused as error:
        return Outcome(error=str(error))
    except OSError as error:
        return Outcome(error=f"no answer: {type(error).__name__}")
    if 200 <= status < 300:
        return Outcome(status)
    why = "redirects are not followed" if 300 <= status < 400 else f"the receiver answered {status}"
    return Outcome(status, why, gone=status == GONE)


async def _posted(poster: Poster, targets: Sequence[Target], headers: dict[str, str], body: bytes) -> int:
    """Return the status of the first address that can be connected to."""
    for target in targets[:-1]:
        with suppress(ConnectionRefusedError):
            return await poster.post(target, headers, body)
    return await poster.post(targets[-1], headers, body)
