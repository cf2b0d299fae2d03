"""The `openai` client of one provider: limits, retries, and every failure as one of ours.

A provider that is overloaded, silent or refuses the key is worth another try later, so nothing is lost by it; a request
that it will never accept is not. The key appears in no message.
"""

import asyncio
import math
import time
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Generator
from contextlib import asynccontextmanager, contextmanager
from email.utils import parsedate_to_datetime
from typing import cast
from urllib.parse import urlsplit

import httpx2
import openai

from runtime.errors import ConfigurationError, Poison, RateLimited, ServiceError, Unavailable

RETRIES = 2
"""Times the client itself repeats a call, for blips of a second or two."""

LARGEST_ANSWER = 32 * 1024 * 1024
"""Bytes of one answer; a provider that sends more is cut off."""

_PATIENCE = 2.0
_LONGEST_WAIT = 3600.0
_LONGEST_REASON = 300


class Endpoint:
    """One provider: its client, how many calls it gets at once, and what its errors mean.

    `settings` begins the names of the settings that messages point to: `LLM`, `EMBEDDING`. Raises `ConfigurationError`
    for a key that cannot be sent.
    """

    def __init__(
        self, base_url: str, api_key: str, concurrency: int, timeout: float, retries: int, settings: str
    ) -> None:  # fmt: skip
        key = api_key.strip()
        if not (key.isascii() and key.isprintable()):
            raise ConfigurationError(f"{settings}_API_KEY holds characters that no key has: enter it again")
        self._name = urlsplit(base_url).hostname or "the model endpoint"
        self._settings = settings
        self._hide: Callable[[str], str] = lambda text: text.replace(key, "***") if key else text
        self._timeout = timeout
        self._slots = asyncio.Semaphore(concurrency)
        self.client = openai.AsyncOpenAI(
            base_url=base_url or None,
            api_key=key or "none",
            max_retries=retries,
            timeout=openai.Timeout(timeout, connect=min(10.0, timeout)),
            default_headers={"Accept-Encoding": "identity"},
            http_client=openai.DefaultAsyncHttpxClient(event_hooks={"response": [_guard]}),
        )

    @asynccontextmanager
    async def call(self, *, streaming: bool = False) -> AsyncGenerator[openai.AsyncOpenAI]:
        """A slot, a time limit (a stream has one per read instead) and errors of ours."""
        async with self._slots:
            with self._translated():
                if streaming:
                    yield self.client
                    return
                async with asyncio.timeout(self._timeout):
                    yield self.client

    @contextmanager
    def _translated(self) -> Generator[None]:
        """Errors of the client as ours, without their cause: it holds the request, and with it the key."""
        try:
            yield
        except ServiceError:
            raise
        except openai.APIStatusError as error:
            raise self._of_status(error) from None
        except (openai.APITimeoutError, TimeoutError):
            raise Unavailable(f"{self._name} did not answer within {self._timeout:g} s") from None
        except openai.APIConnectionError:
            raise Unavailable(f"{self._name} cannot be reached, or broke off; {self._settings}_BASE_URL") from None
        except (openai.OpenAIError, ValueError, TypeError, AttributeError) as error:
            # The client trips over JSON of another shape with errors of every kind.
            raise Unavailable(f"{self._name} answered what cannot be read: {self._reason(error)}") from None

    def _of_status(self, error: openai.APIStatusError) -> ServiceError:
        code = error.status_code
        wait = retry_after(error.response.headers.get("retry-after"))
        if code == 429:
            return RateLimited(f"{self._name} asks to wait: {self._reason(error)}", retry_after=wait)
        if code in (401, 403):
            return Unavailable(f"{self._name} refused the key (HTTP {code}): change {self._settings}_API_KEY")
        if code in (402, 408, 409) or code >= 500:
            return Unavailable(f"{self._name} answered HTTP {code}: {self._reason(error)}", retry_after=wait)
        return Poison(f"{self._name} refused the request (HTTP {code}): {self._reason(error)}")

    def _reason(self, error: Exception) -> str:
        """What the provider said, bounded, on one line, without the key should it have been repeated there."""
        return " ".join(self._hide(str(error)).split())[:_LONGEST_REASON]


def retry_after(header: str | None) -> float | None:
    """Seconds that a Retry-After header asks to wait (RFC 9110, 10.2.3: seconds or a date), at most an hour."""
    if header is None:
        return None
    try:
        seconds = float(header)
    except ValueError:
        try:
            seconds = parsedate_to_datetime(header).timestamp() - time.time()
        except ValueError:
            return None
    return min(max(seconds, 0.0), _LONGEST_WAIT) if math.isfinite(seconds) else None


async def _guard(response: httpx2.Response) -> None:
    """Bound what is read, and do not let the client sleep long inside a call: the event comes back by itself."""
    wait = retry_after(response.headers.get("retry-after"))
    if wait is not None and wait > _PATIENCE:
        response.headers["x-should-retry"] = "false"
    response.stream = _Bounded(cast(httpx2.AsyncByteStream, response.stream))


class _Bounded(httpx2.AsyncByteStream):
    """The bytes of an answer up to the largest allowed one."""

    def __init__(self, stream: httpx2.AsyncByteStream) -> None:
        self._stream = stream

    async def __aiter__(self) -> AsyncIterator[bytes]:
        read = 0
        async for part in self._stream:
            read += len(part)
            if read > LARGEST_ANSWER:
                raise Unavailable(f"the provider sent more than {LARGEST_ANSWER} bytes")
            yield part

    async def aclose(self) -> None:
        await self._stream.aclose()
