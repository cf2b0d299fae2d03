"""Asks a query service that is another process, over HTTP."""

import ssl
from collections.abc import AsyncGenerator, Mapping
from contextlib import aclosing
from http import HTTPStatus
from typing import Any, cast

import httpx2

from runtime import telemetry
from runtime.bus.actor import current_actor
from runtime.errors import ConfigurationError, NotServing, Unavailable
from runtime.models.port import AnswerPiece
from services.query.answer import Answer
from services.query.question import ProgressCallback, ignore_progress
from services.query.questions import wire
from services.query.questions.port import QuestionRequest, RetrievedData
from services.query.questions.wire import AnswerHead, AskedConfiguration, AskedQuestion

SILENCE = 4 * wire.HEARTBEAT
"""Seconds without a sign of life after which the query service is given up."""

CONNECT_TIMEOUT = 5.0
IDLE_CONNECTIONS = 20
"""Connections that are kept for further questions."""

Values = AsyncGenerator[tuple[str, bytes]]
"""Names and values of the lines of an answer."""


class RemoteQuestions:
    """`Questions` of the query service at this address. Raises ConfigurationError for an address
    that is none.

    A question has a connection of its own while it is answered: closing it is what stops the work
    there. `silence`: see `SILENCE`.
    """

    def __init__(self, url: str, key: str, *, silence: float = SILENCE) -> None:
        if not url.startswith(("http://", "https://")):
            raise ConfigurationError(
                "QUESTIONS_URL is no address such as http://query:9626 of a query service"
            )
        self._client = httpx2.AsyncClient(
            base_url=url,
            headers={"Authorization": f"Bearer {key}", "Content-Type": "application/json"},
            timeout=httpx2.Timeout(silence, connect=CONNECT_TIMEOUT, pool=None),
            limits=httpx2.Limits(max_connections=None, max_keepalive_connections=IDLE_CONNECTIONS),
            # No proxy of the environment: the service is a neighbour.
            trust_env=False,
            verify=ssl.create_default_context(),
        )

    async def ask(
        self, request: QuestionRequest, on_progress: ProgressCallback = ignore_progress, /
    ) -> Answer:
        """See `Questions.ask`."""
        body = wire.ASKED.dump_json(AskedQuestion.of(request, current_actor()))
        parts = _parts(self._values("ask", body), on_progress)
        head = await anext(parts, None)
        if not isinstance(head, AnswerHead):
            raise Unavailable("the query service sent no answer")
        if not head.is_streamed:
            await parts.aclose()
        # What yielded the head goes on with the pieces, so that closing them closes the
        # connection, though none was read.
        pieces = cast("AsyncGenerator[AnswerPiece]", parts) if head.is_streamed else None
        return head.with_pieces(pieces)

    async def retrieve(self, request: QuestionRequest, /) -> RetrievedData:
        """See `Questions.retrieve`."""
        body = wire.ASKED.dump_json(AskedQuestion.of(request, current_actor()))
        return wire.read_value(await self._value("retrieve", "data", body), wire.DATA)

    async def configuration(self, generation: int, /) -> Mapping[str, Any]:
        """See `Questions.configuration`."""
        body = wire.ASKED_CONFIGURATION.dump_json(AskedConfiguration(generation))
        value = await self._value("configuration", "configuration", body)
        return wire.read_value(value, wire.CONFIGURATION)

    async def close(self) -> None:
        """Close all connections."""
        await self._client.aclose()

    async def _value(self, operation: str, name: str, body: bytes) -> bytes:
        """Return the one value of this name that is answered."""
        async with aclosing(self._values(operation, body)) as values:
            matches = [value async for line_name, value in values if line_name == name]
        if not matches:
            raise Unavailable("the query service sent no answer")
        return matches[0]

    async def _values(self, operation: str, body: bytes) -> Values:
        """Yield what the lines of an answer say. Raises the error that the other side sends, and
        Unavailable where it breaks off.
        """
        try:
            response = await self._opened(f"{wire.PREFIX}/{operation}", body)
            async with aclosing(response), aclosing(_lines(response)) as lines:
                _refuse(response)
                async for data in lines:
                    name, value = wire.read_line(data)
                    if name == "end":
                        return
                    if name == "error":
                        raise wire.read_value(value, wire.WIRE_ERROR).error()
                    yield name, value
        except httpx2.HTTPError as error:
            raise Unavailable(
                f"the query service does not answer ({type(error).__name__})"
            ) from error
        raise Unavailable("the query service broke off its answer")

    async def _opened(self, path: str, body: bytes) -> httpx2.Response:
        """Return an answer that begins. Asks again where the connection was of no use: one that
        was kept ends with the service that it led to, and another may stand in its place.
        """
        try:
            return await self._client.send(self._request(path, body), stream=True)
        except (httpx2.NetworkError, httpx2.RemoteProtocolError):
            return await self._client.send(self._request(path, body), stream=True)

    def _request(self, path: str, body: bytes) -> httpx2.Request:
        traceparent = telemetry.traceparent_for()
        headers = {"traceparent": traceparent} if traceparent else {}
        return self._client.build_request("POST", path, content=body, headers=headers)


def _refuse(response: httpx2.Response) -> None:
    """Raise for a status that no answer has."""
    if response.status_code == HTTPStatus.UNAUTHORIZED:
        raise NotServing(
            "the query service does not take the gateway's QUESTIONS_KEY: give both the same"
        )
    if response.status_code != HTTPStatus.OK:
        raise Unavailable(f"the query service answers {response.status_code}", retry_after=2.0)


async def _lines(response: httpx2.Response) -> AsyncGenerator[bytes]:
    """Yield the lines that are not blank."""
    # Not by the client's own lines: those end at separators that may stand in a text, too.
    buffer = bytearray()
    async with aclosing(response.aiter_raw()) as parts:
        async for part in parts:
            search_start = len(buffer)
            buffer += part
            while (end := buffer.find(b"\n", search_start)) >= 0:
                text = bytes(buffer[:end])
                del buffer[: end + 1]
                search_start = 0
                if text:
                    yield text


async def _parts(
    values: Values, on_progress: ProgressCallback
) -> AsyncGenerator[AnswerHead | AnswerPiece]:
    """Yield the head of an answer, then its pieces; tell of the steps before."""
    async with aclosing(values):
        async for name, value in values:
            if name == "progress":
                on_progress(wire.read_value(value, wire.STEP))
            elif name == "tool":
                on_progress("using_tool", wire.read_value(value, wire.DETAIL))
            elif name == "answer":
                yield wire.read_value(value, wire.HEAD)
            elif name == "piece":
                yield wire.read_value(value, wire.PIECE)
