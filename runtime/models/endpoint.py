"""One provider behind HTTP: its turns among all replicas, its time limit, every failure as one of
ours.

Whether a failure is the provider's or that of one text is found by a control call (`blame.py`).
Neither the key nor a password of the URL is in any message.
"""

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable, Generator
from contextlib import asynccontextmanager, contextmanager
from typing import Any, TypeVar
from urllib.parse import unquote, urlsplit

import aiohttp

from runtime.activity import waiting
from runtime.errors import ConfigurationError, Retryable, ServiceError, Unavailable
from runtime.metrics.model_calls import CallKind, recorded_call
from runtime.models.access_tokens import NoToken
from runtime.models.blame import Blame
from runtime.models.failures import Failure, Sender
from runtime.models.json_posts import JsonPosts, RedirectedAway, Sending, StatusError
from runtime.models.json_values import as_dict, parsed
from runtime.models.limits import Call
from runtime.models.provider_errors import (
    error_in,
    error_of,
    parsed_body,
    sentence_of,
    wait_in,
)
from runtime.models.rate_limiter import RateLimiter
from runtime.models.wires.openai import OpenAiWire, Request
from runtime.retries import Backoff, parse_retry_after

T = TypeVar("T")

CANNOT_CONNECT = (
    aiohttp.ClientConnectorError,
    aiohttp.ClientHttpProxyError,
    aiohttp.InvalidURL,
)
"""Causes of a failed call that no text can have."""

REPETITIONS = Backoff(first=0.5, longest=1.0)
"""Before the repetition of a call, where a person waits for the answer."""

BYTES_PER_TOKEN = 3
"""For estimates: English has four, Chinese three, and what was booked too much is given back."""

CONTROL_TIMEOUT = 30.0
"""Most seconds in which a provider that works answers something harmless."""

_LONGEST_WAIT = 3600.0


class Endpoint:
    """One provider: its wire, the turns it gives, and what its errors mean.

    `settings` begins the names of the settings that messages point to: `LLM`, `QUERY_LLM`,
    `EMBEDDING`. `retries` is how often `tried` repeats a call. Raises `ConfigurationError` for a
    key that cannot be sent, and without an address.

    `control` sends something harmless that every model answers; it raises `Failure` or
    `ServiceError` where it fails.
    """

    def __init__(
        self,
        wire: OpenAiWire,
        limiter: RateLimiter,
        timeout: float,
        settings: str,
        retries: int = 0,
    ) -> None:
        key = wire.key
        if not (key.isascii() and key.isprintable()):
            raise ConfigurationError(
                f"{settings}_API_KEY holds characters that no key has: enter it again"
            )
        if not wire.address:
            raise ConfigurationError(
                f"set {settings}_BASE_URL: this binding has no address of its own"
            )
        address = urlsplit(wire.address)
        self._name = address.hostname or "the model endpoint"
        passwords = (key, address.password, unquote(address.password or ""))
        secrets = tuple(filter(None, passwords))
        self.sender = Sender(self._name, settings, secrets, wire.key_name)
        self.settings = settings
        self._limiter = limiter
        self._timeout = timeout
        self._retries = retries
        self.wire = wire
        self._posts = JsonPosts(wire.headers, min(10.0, timeout), wire.tokens)
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

    async def ask(
        self, request: Request, read: Callable[[Any], dict[str, Any]] = as_dict
    ) -> dict[str, Any]:
        """Return the answer to a request, as `read` makes an object of its JSON. Raises `Failure`,
        or `ModelRefused` for a code that says so.
        """
        with self.translated():
            content = await self._posts.post(request.url, request.body)
            answer = read(parsed(content))
        if not answer:
            raise self.strange(content)
        if error := error_in(answer):
            raise self.sender.refused(error, None)
        return answer

    @asynccontextmanager
    async def open_stream(self, request: Request) -> AsyncGenerator[aiohttp.ClientResponse]:
        """Open a streamed answer. Raises as `ask` does, also where an answer comes that is no
        stream.
        """
        async with self._posts.open_stream(request.url, request.body, self._timeout) as response:
            if "json" in response.content_type and not self.wire.streams_json:
                content = await response.read()
                error = error_in(as_dict(parsed(content)))
                raise self.sender.refused(error, None) if error else self.strange()
            yield response

    @asynccontextmanager
    async def open_answer(self, sending: Sending) -> AsyncGenerator[aiohttp.ClientResponse]:
        """Open the answer to a request that is no call of a model, such as that for a file. It
        takes no turn. Raises `Failure`, or `ModelRefused` for a code that says so.
        """
        with self.translated():
            async with self._posts.open_answer(sending, self._timeout) as response:
                yield response

    def strange(self, content: bytes | str = b"") -> Failure:
        """Return the failure of an answer in another format."""
        sentence = sentence_of(parsed_body(content))
        return self.sender.useless(
            f"{self._name} did not answer in {self.wire.form}; check {self.settings}_BASE_URL"
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

    @contextmanager
    def translated(self) -> Generator[None]:
        """Translate errors of the connection to ours, without their cause: it may hold the
        request, and with it the key.
        """
        try:
            yield
        except (ServiceError, Failure) as error:
            if type(error) is Unavailable:
                raise self.sender.useless(str(error)) from None
            raise
        except NoToken as error:
            raise self.sender.certain(str(error)) from None
        except StatusError as error:
            raise self._of_status(error) from None
        except TimeoutError:
            reason = (
                f"{self._name} did not answer within {self._timeout:g} s; {self.settings}_TIMEOUT"
            )
            raise self.sender.silent(reason) from None
        except CANNOT_CONNECT:
            reason = f"{self._name} cannot be reached; {self.settings}_BASE_URL"
            raise self.sender.certain(reason) from None
        except (aiohttp.ClientError, ConnectionError):
            reason = f"{self._name} broke off; {self.settings}_BASE_URL"
            raise self.sender.silent(reason) from None
        except RedirectedAway as error:
            raise self._redirected(error) from None
        except (ArithmeticError, LookupError, ValueError, TypeError, AttributeError) as error:
            # JSON of another shape makes readers stumble with errors of every kind.
            reason = f"{self._name} answered what cannot be read: {error}"
            raise self.sender.useless(reason) from None

    def _of_status(self, error: StatusError) -> Exception:
        body = parsed_body(error.content)
        wait = parse_retry_after(
            error.headers.get("retry-after", wait_in(body)),
            _LONGEST_WAIT,
            date=error.headers.get("date"),
        )
        return self.sender.refused(error_of(error.status, body), wait)

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
