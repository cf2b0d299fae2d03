"""The HTTP client of one provider: its turns among all replicas, its time limit, every failure as one of ours.

A provider that is overloaded, silent, refuses the key or knows no such model is worth another try later, so nothing is
lost by it; a request that it will never accept is not. Neither the key nor a password of the URL is in any message.

The requests are few and plain, so they go through aiohttp alone: a call takes a tenth of the processor time that the
`openai` package takes, which checks each part of a request and of an answer against its models (decision 52).
"""

import asyncio
import json
import os
import ssl
from collections.abc import AsyncGenerator, Awaitable, Callable, Generator, Mapping
from contextlib import aclosing, asynccontextmanager, contextmanager
from typing import Any, TypeVar, cast
from urllib.parse import unquote, urlsplit

import certifi
import orjson

from runtime.activity import waiting
from runtime.errors import ConfigurationError, ModelRefused, RateLimited, Retryable, ServiceError, Unavailable
from runtime.models.http_client import aiohttp
from runtime.models.rate_limiter import Call, RateLimiter
from runtime.retries import Backoff, parse_retry_after

T = TypeVar("T")

OPENAI = "https://api.openai.com/v1"

LARGEST_ANSWER = 32 * 1024 * 1024
"""Bytes of one answer; a provider that sends more is cut off."""

REPETITIONS = Backoff(first=0.5, longest=1.0)
"""Before the repetition of a call, where a person waits for the answer."""

BYTES_PER_TOKEN = 3
"""For estimates: English has four, Chinese three, and what was booked too much is given back."""

_LONGEST_WAIT = 3600.0
_LONGEST_REASON = 300

_NO_QUOTA = {"insufficient_quota", "billing_hard_limit_reached", "billing_not_active", "quota_exceeded"}
_NO_KEY = {"invalid_api_key", "API_KEY_INVALID", "authentication_error"}
_NO_MODEL = {"model_not_found", "invalid_model", "unknown_model", "DeploymentNotFound"}
_FILTERED = {"content_filter", "content_policy_violation", "ResponsibleAIPolicyViolation"}
_TOO_LONG = {"context_length_exceeded", "string_above_max_length"}


class HttpFailure(Exception):
    """The provider answered with a status of 400 or more; `error` is what it says of it, as far as that can be read."""

    def __init__(self, status: int, headers: Mapping[str, str], content: bytes) -> None:
        self.status, self.retry_after = status, headers.get("retry-after")
        body = parsed(content)
        self.error: dict[str, Any] = as_dict(body.get("error")) or body
        said = self.error.get("message")
        super().__init__(said if isinstance(said, str) else content[:4000].decode("utf-8", "replace"))

    @property
    def codes(self) -> set[str]:
        """What the provider calls the error: its code and its type, and those of the cause inside."""
        inside = as_dict(self.error.get("innererror")).get("code")
        values = (self.error.get("code"), self.error.get("type"), inside, self.error.get("status"))
        return {value for value in values if isinstance(value, str)}


class Endpoint:
    """One provider: its connections, the turns it gives, and what its errors mean.

    `settings` begins the names of the settings that messages point to: `LLM`, `EMBEDDING`. A request is never repeated
    by itself, for each one counts; `retries` is how often `tried` does. Raises `ConfigurationError` for a key that
    cannot be sent.
    """

    def __init__(
        self, base_url: str, api_key: str, limiter: RateLimiter, timeout: float, settings: str, retries: int = 0
    ) -> None:  # fmt: skip
        key = api_key.strip()
        if not (key.isascii() and key.isprintable()):
            raise ConfigurationError(f"{settings}_API_KEY holds characters that no key has: enter it again")
        address = urlsplit(base_url)
        self._name = address.hostname or "the model endpoint"
        self._secrets = [secret for secret in (key, address.password, unquote(address.password or "")) if secret]
        self._settings, self._limiter, self._timeout, self._retries = settings, limiter, timeout, retries
        self._url = (base_url or OPENAI).rstrip("/")
        # Compressed answers would have to be bounded twice; a name and password in the address stand for the key.
        self._headers = {
            "Accept": "application/json",
            "Accept-Encoding": "identity",
            "Content-Type": "application/json",
        }
        if address.username is None:
            self._headers["Authorization"] = f"Bearer {key or 'none'}"
        self._session: aiohttp.ClientSession | None = None

    async def post(self, path: str, body: Mapping[str, Any]) -> bytes:
        """Return the answer to a request to `path`, which is appended to the address. Only inside of `call`."""
        async with self._request(path, body) as response:
            return await _content(response)

    async def events(self, path: str, body: Mapping[str, Any]) -> AsyncGenerator[dict[str, Any]]:
        """Yield the server-sent events of a streamed answer, up to `[DONE]`. Only inside of `call`."""
        async with self._request(path, body) as response, aclosing(_lines(response)) as lines:
            async for line in lines:
                if line.startswith(b"data:"):
                    data = line[5:].strip()
                    if data == b"[DONE]":
                        return
                    yield parsed(data)

    @asynccontextmanager
    async def _request(self, path: str, body: Mapping[str, Any]) -> AsyncGenerator[aiohttp.ClientResponse]:
        if self._session is None or self._session.closed:
            self._session = self._opened()
        async with self._session.post(self._url + path, data=orjson.dumps(body)) as response:
            if response.status >= 400:
                raise HttpFailure(response.status, response.headers, await _content(response))
            yield response

    def _opened(self) -> aiohttp.ClientSession:
        """Open the connections; how many calls run at once is the rate limiter's decision."""
        secure = _certificates() if self._url.startswith("https:") else True
        limits = aiohttp.ClientTimeout(
            total=None, sock_connect=min(10.0, self._timeout), sock_read=self._timeout
        )  # fmt: skip
        return aiohttp.ClientSession(
            connector=aiohttp.TCPConnector(limit=0, ssl=secure), headers=self._headers, timeout=limits, trust_env=True
        )

    @asynccontextmanager
    async def call(self, tokens: int, *, streaming: bool = False) -> AsyncGenerator[Call]:
        """A turn of about so many tokens, a time limit (a stream has one per read instead) and errors of ours."""
        with waiting():
            async with self._limiter.call(tokens) as call:
                with self._translated():
                    if streaming:
                        yield call
                        return
                    async with asyncio.timeout(self._timeout):
                        yield call

    async def tried(self, once: Callable[[], Awaitable[T]]) -> T:
        """Return the result of a call that is repeated a few times, unless the provider asks for a longer wait."""
        if not self._retries:
            return await once()

        def again(error: Exception) -> bool:
            return isinstance(error, Retryable) and (error.retry_after or 0.0) <= REPETITIONS.longest

        return await REPETITIONS.retry(once, again, self._retries + 1)

    async def close(self) -> None:
        """Close the connections, and release the turns."""
        await self._limiter.close()
        if self._session:
            await self._session.close()

    @contextmanager
    def _translated(self) -> Generator[None]:
        """Translate errors of the client to ours, without their cause: it holds the request, and with it the key."""
        try:
            yield
        except ServiceError:
            raise
        except HttpFailure as failure:
            raise self._of_status(failure) from None
        except TimeoutError:  # the client's own are of this kind
            raise Unavailable(
                f"{self._name} did not answer within {self._timeout:g} s; {self._settings}_TIMEOUT"
            ) from None
        except (aiohttp.ClientError, OSError):
            raise Unavailable(f"{self._name} cannot be reached, or broke off; {self._settings}_BASE_URL") from None
        except (ValueError, TypeError, AttributeError) as error:
            # JSON of another shape.
            raise Unavailable(f"{self._name} answered what cannot be read: {self._reason(error)}") from None

    def _of_status(self, failure: HttpFailure) -> ServiceError:
        status, codes, reason = failure.status, failure.codes, self._reason(failure)
        wait = parse_retry_after(failure.retry_after, _LONGEST_WAIT)
        if codes & (_FILTERED | _TOO_LONG):
            filtered = bool(codes & _FILTERED)
            what = "refuses this content" if filtered else "takes no text of this length"
            return ModelRefused(f"{self._name} {what} (HTTP {status}): {reason}", "content" if filtered else "length")
        if status == 402 or codes & _NO_QUOTA:
            return Unavailable(
                f"{self._name} has no quota left for this key (HTTP {status}): add some, "
                f"or change {self._settings}_API_KEY"
            )
        if status == 429:
            return RateLimited(f"{self._name} asks to wait: {reason}", retry_after=wait)
        if status in (401, 403) or codes & _NO_KEY:
            return Unavailable(f"{self._name} refused the key (HTTP {status}): change {self._settings}_API_KEY")
        return self._of_request(status, codes, wait, reason)

    def _of_request(self, status: int, codes: set[str], wait: float | None, reason: str) -> ServiceError:
        if status == 404 or codes & _NO_MODEL:
            return Unavailable(
                f"{self._name} knows no such model, or no such address (HTTP {status}): "
                f"change {self._settings}_MODEL or {self._settings}_BASE_URL; {reason}"
            )
        if status in (408, 409) or status >= 500:
            return Unavailable(f"{self._name} answered HTTP {status}: {reason}", retry_after=wait)
        return ModelRefused(f"{self._name} refused the request (HTTP {status}): {reason}", "request")

    def _reason(self, error: Exception) -> str:
        """Return the provider's message, bounded, on one line, without secrets should they have been repeated there."""
        text = str(error)
        for secret in self._secrets:
            text = text.replace(secret, "***")
        return " ".join(text.split())[:_LONGEST_REASON]


def estimated(texts: list[str]) -> int:
    """Estimate how many tokens the texts have: a cautious guess, for no tokenizer is that of every model."""
    return sum(len(text.encode("utf-8", "replace")) // BYTES_PER_TOKEN + 4 for text in texts)


def parsed(content: bytes) -> dict[str, Any]:
    """Return the JSON object of an answer, empty where it is none."""
    try:
        body = orjson.loads(content)
    except ValueError:
        try:
            body = json.loads(content)  # which also reads the NaN that some servers send
        except (ValueError, RecursionError):
            return {}
    return as_dict(body)


def as_dict(value: object) -> dict[str, Any]:
    """Return the value if it is a JSON object, else an empty one."""
    return cast(dict[str, Any], value) if isinstance(value, dict) else {}


async def _content(response: aiohttp.ClientResponse) -> bytes:
    parts = [part async for part in _bounded(response)]
    return parts[0] if len(parts) == 1 else b"".join(parts)


async def _lines(response: aiohttp.ClientResponse) -> AsyncGenerator[bytes]:
    rest = b""
    async for part in _bounded(response):
        *lines, rest = (rest + part).split(b"\n")
        for line in lines:
            yield line.rstrip(b"\r")
    yield rest


async def _bounded(response: aiohttp.ClientResponse) -> AsyncGenerator[bytes]:
    """Yield the bytes of an answer up to the largest allowed one."""
    read = 0
    async for part in response.content.iter_any():
        read += len(part)
        if read > LARGEST_ANSWER:
            raise Unavailable(f"the provider sent more than {LARGEST_ANSWER} bytes")
        yield part


def _certificates() -> ssl.SSLContext:
    """Return the authorities that are trusted: those that the environment names, else the ones of a package."""
    file, folder = os.environ.get("SSL_CERT_FILE"), os.environ.get("SSL_CERT_DIR")
    return ssl.create_default_context(cafile=file if file or folder else certifi.where(), capath=folder)
