"""The `openai` client of one provider: its turns among all replicas, its time limit, every failure as one of ours.

A provider that is overloaded, silent, refuses the key or knows no such model is worth another try later, so nothing is
lost by it; a request that it will never accept is not. Neither the key nor a password of the URL is in any message.
"""

import asyncio
import json
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable, Generator, Mapping
from contextlib import asynccontextmanager, contextmanager
from typing import Any, TypeVar, cast
from urllib.parse import unquote, urlsplit

import httpx2
import openai
import orjson

from runtime.activity import waiting
from runtime.errors import ConfigurationError, ModelRefused, RateLimited, Retryable, ServiceError, Unavailable
from runtime.metrics.model_calls import CallKind, recorded_call
from runtime.models import json_posts
from runtime.models.json_posts import JsonPosts
from runtime.models.limits import Call
from runtime.models.rate_limiter import RateLimiter
from runtime.retries import Backoff, parse_retry_after

T = TypeVar("T")

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


class Endpoint:
    """One provider: its client, the turns it gives, and what its errors mean.

    `settings` begins the names of the settings that messages point to: `LLM`, `QUERY_LLM`, `EMBEDDING`. The client
    itself never repeats a call, for each one counts; `retries` is how often `tried` does. Raises `ConfigurationError`
    for a key that cannot be sent.
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
        self.settings, self._limiter, self._timeout, self._retries = settings, limiter, timeout, retries
        self.client = openai.AsyncOpenAI(
            base_url=base_url or None,
            api_key=key or "none",
            max_retries=0,
            timeout=openai.Timeout(timeout, connect=min(10.0, timeout)),
            default_headers={"Accept-Encoding": "identity"},
            http_client=openai.DefaultAsyncHttpxClient(event_hooks={"response": [_bounded]}),
        )
        self._posts = JsonPosts(self.client, min(10.0, timeout))

    @asynccontextmanager
    async def call(self, kind: CallKind, tokens: int, *, streaming: bool = False) -> AsyncGenerator[Call]:
        """A turn of about so many tokens, a time limit (a stream has one per read instead) and errors of ours.

        What the caller leaves in `usage` of the call is counted.
        """
        with waiting():
            async with self._limiter.call(tokens) as call:
                with recorded_call(kind, self._name, call), self._translated():
                    if streaming:
                        yield call
                        return
                    async with asyncio.timeout(self._timeout):
                        yield call

    async def post(self, route: str, body: Mapping[str, Any]) -> bytes:
        """Return the answer to a request. Raises what the client raises, which `call` translates."""
        return await self._posts.post(route, body)

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
        await self._posts.close()
        await self.client.close()

    @contextmanager
    def _translated(self) -> Generator[None]:
        """Translate errors of the client to ours, without their cause: it holds the request, and with it the key."""
        try:
            yield
        except ServiceError:
            raise
        except openai.APIStatusError as error:
            raise self._of_status(error) from None
        except (openai.APITimeoutError, TimeoutError):
            raise Unavailable(
                f"{self._name} did not answer within {self._timeout:g} s; {self.settings}_TIMEOUT"
            ) from None
        except openai.APIConnectionError:
            raise Unavailable(f"{self._name} cannot be reached, or broke off; {self.settings}_BASE_URL") from None
        except (openai.OpenAIError, ValueError, TypeError, AttributeError) as error:
            # The client trips over JSON of another shape with errors of every kind.
            raise Unavailable(f"{self._name} answered what cannot be read: {self._reason(error)}") from None

    def _of_status(self, error: openai.APIStatusError) -> ServiceError:
        status, codes = error.status_code, _codes(error)
        wait = parse_retry_after(error.response.headers.get("retry-after"), _LONGEST_WAIT)
        if codes & (_FILTERED | _TOO_LONG):
            filtered = bool(codes & _FILTERED)
            what = "refuses this content" if filtered else "takes no text of this length"
            reason = "content" if filtered else "length"
            return ModelRefused(f"{self._name} {what} (HTTP {status}): {self._reason(error)}", reason)
        if status == 402 or codes & _NO_QUOTA:
            return Unavailable(
                f"{self._name} has no quota left for this key (HTTP {status}): add some, "
                f"or change {self.settings}_API_KEY"
            )
        if status == 429:
            return RateLimited(f"{self._name} asks to wait: {self._reason(error)}", retry_after=wait)
        if status in (401, 403) or codes & _NO_KEY:
            return Unavailable(f"{self._name} refused the key (HTTP {status}): change {self.settings}_API_KEY")
        return self._of_request(status, codes, wait, self._reason(error))

    def _of_request(self, status: int, codes: set[str], wait: float | None, reason: str) -> ServiceError:
        if status == 404 or codes & _NO_MODEL:
            return Unavailable(
                f"{self._name} knows no such model, or no such address (HTTP {status}): "
                f"change {self.settings}_MODEL or {self.settings}_BASE_URL; {reason}"
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


def _codes(error: openai.APIStatusError) -> set[str]:
    """What the provider calls the error: its code and its type, and those of the cause inside, where it gives one."""
    body = as_dict(error.body)
    inside = as_dict(body.get("innererror")).get("code")
    return {code for code in (error.code, error.type, inside, body.get("status")) if isinstance(code, str)}


async def _bounded(response: httpx2.Response) -> None:
    response.stream = _Bounded(cast(httpx2.AsyncByteStream, response.stream))


class _Bounded(httpx2.AsyncByteStream):
    """The bytes of an answer up to the largest allowed one."""

    def __init__(self, stream: httpx2.AsyncByteStream) -> None:
        self._stream = stream

    async def __aiter__(self) -> AsyncIterator[bytes]:
        read = 0
        async for part in self._stream:
            read += len(part)
            if read > json_posts.LARGEST_ANSWER:
                raise Unavailable(f"the provider sent more than {json_posts.LARGEST_ANSWER} bytes")
            yield part

    async def aclose(self) -> None:
        await self._stream.aclose()
