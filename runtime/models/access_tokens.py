"""Tokens of an identity provider, which stand in the place of a key and end after an hour or so."""

import asyncio
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass

MARGIN = 300.0
"""Seconds before its end at which a token is fetched anew, of a short one a tenth of its time."""


@dataclass(frozen=True)
class AccessToken:
    """A token, and the seconds for which it is accepted from now on."""

    value: str
    lifetime: float


class NoToken(Exception):
    """No token can be had. The message says why, and which settings say whom it is for."""


class AccessTokens:
    """The token of one identity. `fetch` returns a new one; it raises `NoToken`."""

    def __init__(self, fetch: Callable[[], Awaitable[AccessToken]]) -> None:
        self._fetch = fetch
        self._lock = asyncio.Lock()
        self._ends_at = self._due_at = 0.0
        self.value = ""

    async def refresh(self) -> None:
        """Fetch a token if there is none, or if the one there is ends soon.

        Raises `NoToken`, but not while the present token is still accepted.
        """
        async with self._lock:
            if time.monotonic() < self._due_at:
                return
            try:
                token = await self._fetch()
            except NoToken:
                if time.monotonic() < self._ends_at:
                    return
                raise
            self.value = token.value
            self._ends_at = time.monotonic() + token.lifetime
            self._due_at = self._ends_at - min(MARGIN, token.lifetime / 10)

    def forget(self) -> None:
        """Have the next call fetch a token, for this one was refused."""
        self._ends_at = self._due_at = 0.0
