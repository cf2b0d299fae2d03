"""The `openai` client of one provider: its turns among all replicas, its time limit, every failure
as one of ours.

Whether a failure is the provider's or that of one text is found by a control call (`blame.py`).
Neither the key nor a password of the URL is in any message.
"""

import asyncio
import json
from collections.abc import (
    AsyncGenerator,
    AsyncIterator,
    Awaitable,
    Callable,
    Generator,
    Mapping,
)
from contextlib import asynccontextmanager, contextmanager
from typing import Any, TypeVar, cast
from urllib.parse import unquote, urlsplit

import aiohttp
import httpx2
import openai
import orjson

from runtime.activity import waiting
from runtime.errors import ConfigurationError, Retryable, ServiceError, Unavailable
from runtime.metrics.model_calls import CallKind, recorded_call
from runtime.models import json_posts
from runtime.models.blame import Blame
from runtime.models.failures import Failure, Sender
from runtime.models.json_posts import JsonPosts, RedirectedAway, redirected
from runtime.models.limits import Call
from runtime.models.provider_errors import error_in, error_of, parsed_body, sentence_of
from runtime.models.rate_limiter import RateLimiter
from runtime.retries import Backoff, parse_retry_after

T = TypeVar("T")

CANNOT_CONNECT = (aiohttp.ClientConnectorError, httpx2.ConnectError, httpx2.ProxyError)
"""Causes of a failed call that no text can have."""

REPETITIONS = Backoff(first=0.5, longest=1.0)
"""Before the repetition of a call, where a person waits for the answer."""

BYTES_PER_TOKEN = 3
"""For estimates: English has four, Chinese three, and what was booked too much is given back."""

CONTROL_TIMEOUT = 30.0
"""Most seconds in which a provider that works answers something harmless."""

_LONGEST_WAIT = 3600.0


class Endpoint:
    """One provider: its client, the turns it gives, and what its errors mean.

    `settings` begins the names of the settings that messages point to: `LLM`, `QUERY_LLM`,
    `EMBEDDING`. The client itself never repeats a call, for each one counts; `retries` is how often
    `tried` does. Raises `ConfigurationError` for a key that cannot be sent.

    `control` sends something harmless that every model answers; it raises `Failure` or
    `ServiceError` where it fails.
    """

    def __init__(
        self,
        base_url: str,
        api_key: str,
        limiter: RateLimiter,
        timeout: float,
        settings: str,
        retries: int = 0,
    ) -> None:
        key = api_key.strip()
        if not (key.isascii() and key.isprintable()):
            raise ConfigurationError(
                f"{settings}_API_KEY holds characters that no key has: enter it again"
            )
        address = urlsplit(base_url)
        self._name = address.hostname or "the model endpoint"
        passwords = (key, address.password, unquote(address.password or ""))
        self.sender = Sender(self._name, settings, tuple(filter(None, passwords)))
        self.settings = settings
        self._limiter = limiter
        self._timeout = timeout
        self._retries = retries
        self.client = openai.AsyncOpenAI(
            base_url=base_url or None,
            api_key=key or "none",
            max_retries=0,
            timeout=openai.Timeout(timeout, connect=min(10.0, timeout)),
            default_headers={"Accept-Encoding": "identity"},
            http_client=openai.DefaultAsyncHttpxClient(event_hooks={"response": [_bounded]}),
        )
        self._posts = JsonPosts(self.client, min(10.0, timeout))
        self._blame = Blame()
        self.control: Callable[[Call], Awaitable[object]] | None = None

    @asynccontextmanager
    async def call(
        self, kind: CallKind, tokens: int, text: str, *, streaming: bool = False
    ) -> AsyncGenerator[Call]:
        """A turn of about so many tokens, a time limit (a stream has one per read instead) and
        errors of ours.

        `text` is what is sent: its failures are counted. What the caller leaves in `usage` of the
        call is counted. A probing call asks the control first, so that its result is never that of
        one text.
        """
        with waiting():
            async with self._limiter.call(tokens) as call:
                with recorded_call(kind, self._name, call):
                    if call.probing and self.control:
                        await self._probe(call)
                    try:
                        with self.translated():
                            if streaming:
                                yield call
                            else:
                                async with asyncio.timeout(self._timeout):
                                    yield call
                    except Failure as failure:
                        raise await self._judged(failure, text, call) from None
                    self._blame.answered(text)

    async def ask(self, route: str, body: Mapping[str, Any]) -> dict[str, Any]:
        """Return the JSON object of an answer. Raises `Failure`, or `ModelRefused` for a code that
        says so.
        """
        with self.translated():
            content = await self._posts.post(route, body)
        answer = parsed(content)
        if not answer:
            raise self.strange(content)
        if error := error_in(answer):
            raise self.sender.refused(error, None)
        return answer

    def unstreamed(self, content: bytes) -> Exception:
        """Return the error of JSON that came where a stream was asked for."""
        error = error_in(parsed(content))
        return self.sender.refused(error, None) if error else self.strange()

    def strange(self, content: bytes | str = b"") -> Failure:
        """Return the failure of an answer in another format."""
        sentence = sentence_of(parsed_body(content))
        return self.sender.useless(
            f"{self._name} did not answer in the OpenAI format; check {self.settings}_BASE_URL"
            + (f": {sentence}" if sentence else ""),
            sentence,
        )

    async def _probe(self, call: Call) -> None:
        """Ask the control in a probing call; other calls begin as soon as it is answered."""
        try:
            await self.ask_control(call)
        except Failure as failure:
            raise failure.provider from None
        await self._limiter.end_probe(call)

    async def _judged(self, failure: Failure, text: str, call: Call) -> ServiceError:
        async def answers() -> bool:
            try:
                await self.ask_control(call)
            except (Failure, ServiceError):
                return False
            return True

        if self.control is None:
            return failure.provider
        return await self._blame.judged(failure, text, answers)

    async def ask_control(self, call: Call) -> None:
        """Return if the provider answers something harmless, in the turn of this call. Raises what
        that raises.
        """
        assert self.control is not None
        with self.translated():
            async with asyncio.timeout(min(self._timeout, CONTROL_TIMEOUT)):
                await self.control(call)
        self._blame.answered()

    async def tried(self, once: Callable[[], Awaitable[T]]) -> T:
        """Return the result of a call that is repeated a few times, unless the provider asks for a
        longer wait.
        """
        if not self._retries:
            return await once()

        def again(error: Exception) -> bool:
            return (
                isinstance(error, Retryable) and (error.retry_after or 0.0) <= REPETITIONS.longest
            )

        return await REPETITIONS.retry(once, again, self._retries + 1)

    async def close(self) -> None:
        """Close the connections, and release the turns."""
        await self._limiter.close()
        await self._posts.close()
        await self.client.close()

    @contextmanager
    def translated(self) -> Generator[None]:
        """Translate errors of the client to ours, without their cause: it holds the request, and
        with it the key.
        """
        try:
            yield
        except (ServiceError, Failure) as error:
            if type(error) is Unavailable:
                raise self.sender.useless(str(error)) from None
            raise
        except openai.APIStatusError as error:
            raise self._of_status(error.response) from None
        except (openai.APITimeoutError, TimeoutError):
            reason = (
                f"{self._name} did not answer within {self._timeout:g} s; {self.settings}_TIMEOUT"
            )
            raise self.sender.silent(reason) from None
        except openai.APIConnectionError as error:
            raise self._of_connection(error) from None
        except RedirectedAway as error:
            raise self._redirected(error) from None
        except (openai.OpenAIError, ValueError, TypeError, AttributeError) as error:
            # The client trips over JSON of another shape with errors of every kind.
            raise self._of_answer(error) from None

    def _of_status(self, response: httpx2.Response) -> Exception:
        wait = parse_retry_after(
            response.headers.get("retry-after"),
            _LONGEST_WAIT,
            date=response.headers.get("date"),
        )
        try:
            body = parsed_body(response.text)
        except (httpx2.StreamError, httpx2.ResponseNotRead):  # of a stream that was not read
            body = ""
        return self.sender.refused(error_of(response.status_code, body), wait)

    def _of_connection(self, error: openai.APIConnectionError) -> Exception:
        causes = [error.__cause__, error.__cause__ and error.__cause__.__cause__]
        for cause in causes:
            if isinstance(cause, RedirectedAway):
                return self._redirected(cause)
            if isinstance(cause, Unavailable):
                return self.sender.useless(str(cause))
        if any(isinstance(cause, CANNOT_CONNECT) for cause in causes):
            return self.sender.certain(f"{self._name} cannot be reached; {self.settings}_BASE_URL")
        return self.sender.silent(f"{self._name} broke off; {self.settings}_BASE_URL")

    def _of_answer(self, error: Exception) -> Exception:
        """Return what an error in a stream means, or an answer that cannot be read."""
        if body := getattr(error, "body", None):
            return self.sender.refused(error_of(200, body), None)
        return self.sender.useless(f"{self._name} answered what cannot be read: {error}")

    def _redirected(self, error: RedirectedAway) -> Failure:
        return self.sender.certain(
            f"{self._name} redirects to {error.host}, which was not followed: "
            f"if the models are there, change {self.settings}_BASE_URL"
        )


def estimated(texts: list[str]) -> int:
    """Estimate how many tokens the texts have: a cautious guess, for no tokenizer is that of every
    model.
    """
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


async def _bounded(response: httpx2.Response) -> None:
    """Bound an answer, and refuse a redirect to another host before it is followed."""
    if response.has_redirect_location:
        redirected(str(response.request.url), response.headers["Location"])
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
