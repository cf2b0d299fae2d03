"""Sends one message to one endpoint, once."""

import asyncio
import json
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any, Protocol

from services.gateway.egress import AddressRefused, Network, Target, resolved
from services.gateway.webhooks.endpoints import Endpoint, Endpoints
from services.gateway.webhooks.signing import signed_headers

ATTEMPT_SECONDS = 15.0
"""Seconds that one attempt may take, with all of it: names, connections, every byte that the
receiver sends.
"""

AT_ONCE = 8
"""Attempts of one workspace that a process makes at the same time."""

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
        return json.dumps(
            {"type": self.type, "timestamp": self.timestamp, "data": self.data}
        ).encode()


@dataclass(frozen=True)
class Outcome:
    """How an attempt went: `error` is empty when the receiver took the message. `is_gone`: it wants
    no more.
    """

    status: int = 0
    error: str = ""
    is_gone: bool = False


class Poster(Protocol):
    """Sends a request to an address, follows no redirect, and reads no more of the answer than its
    status.
    """

    async def post(self, target: Target, headers: dict[str, str], body: bytes) -> int:
        """Return the status. Raises ConnectionRefusedError when nothing was sent, OSError when
        there is no answer.
        """
        ...


@dataclass(frozen=True)
class Webhooks:
    """The endpoints, how they are reached, and the private networks that they may be in.

    `may_write`: whether a principal, by its name, still exists and may write in a workspace.
    """

    endpoints: Endpoints
    poster: Poster
    allowed_networks: Sequence[Network] = ()
    may_write: Callable[[str, str], bool] = lambda _name, _workspace: True
    _turns: dict[str, asyncio.Semaphore] = field(default_factory=dict[str, asyncio.Semaphore])

    def turn(self, workspace: str) -> asyncio.Semaphore:
        """Return what an attempt of the workspace waits for: slow receivers of one keep nobody else
        waiting.
        """
        return self._turns.setdefault(workspace, asyncio.Semaphore(AT_ONCE))


async def deliver(webhooks: Webhooks, endpoint: Endpoint, message: Notification) -> Outcome:
    """Send the message. The host is resolved for this attempt, and no other address is connected
    to.
    """
    now = time.time()
    headers = {
        "content-type": "application/json",
        "user-agent": "lightstream-webhooks",
        **signed_headers(endpoint.secrets(now), message.id, int(now), message.body),
    }
    try:
        async with asyncio.timeout(ATTEMPT_SECONDS):
            targets = await resolved(endpoint.url, webhooks.allowed_networks)
            status = await _posted(webhooks.poster, targets, headers, message.body)
    except AddressRefused as error:
        return Outcome(error=str(error))
    except TimeoutError:
        return Outcome(error=f"no answer within {ATTEMPT_SECONDS:g} s")
    except OSError as error:
        return Outcome(error=f"no answer: {type(error).__name__}")
    if 200 <= status < 300:
        return Outcome(status)
    why = "redirects are not followed" if 300 <= status < 400 else f"the receiver answered {status}"
    return Outcome(status, why, is_gone=status == GONE)


async def _posted(
    poster: Poster, targets: Sequence[Target], headers: dict[str, str], body: bytes
) -> int:
    """Return the status of the first address that can be connected to."""
    for target in targets[:-1]:
        with suppress(ConnectionRefusedError):
            return await poster.post(target, headers, body)
    return await poster.post(targets[-1], headers, body)
