"""Answers questions of a gateway that is another process, over HTTP.

HTTP, because a connection of its own for each question is what ends it when the asker goes, holds
back an answer that is not read, and carries one of any size.
"""

import asyncio
import hmac
from collections.abc import AsyncGenerator, Callable
from contextlib import ExitStack, aclosing
from uuid import uuid4

import structlog
from starlette.requests import Request
from starlette.responses import JSONResponse, Response, StreamingResponse
from starlette.routing import Mount
from starlette.types import Receive, Scope, Send

from runtime import telemetry
from runtime.bus.actor import acting_as
from runtime.errors import ServiceError
from runtime.models.call_scope import billed_calls, set_call_scope
from services.query.charges import Charges
from services.query.errors import TooLarge
from services.query.question import ProgressStep
from services.query.questions import wire
from services.query.questions.port import QuestionRequest, Questions
from services.query.questions.wire import AskedQuestion

logger = structlog.get_logger(__name__)

MAX_BODY = 8 * 1024 * 1024
"""Bytes of a question at most: the gateway lets none through that has as many."""

Lines = AsyncGenerator[bytes]


class QuestionServer:
    """An ASGI application that asks `Questions`. Until they are there it answers 503.

    Whoever shows the key may ask in every workspace: the gateway knows who may ask in which.
    """

    def __init__(self, key: str) -> None:
        self._authorization = f"Bearer {key}".encode()
        self.questions: Questions | None = None
        self.charges: Charges | None = None
        self.require: Callable[..., None] = _require_nothing
        """Raises an error where a store that is asked for has lost data; see
        `Integrity.require`.
        """

    def mount(self) -> Mount:
        """Return the routes."""
        return Mount(wire.PREFIX, self)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """See ASGI 3."""
        request = Request(scope, receive)
        with (
            telemetry.server_span(
                f"{request.method} {wire.PREFIX}", request.headers.get("traceparent")
            ),
            billed_calls() as bill,
            ExitStack() as stack,
        ):
            response = await self._response(request, stack)
            try:
                await response(scope, receive, send)
            finally:
                if bill and self.charges:
                    self.charges.note(bill)

    async def _response(self, request: Request, stack: ExitStack) -> Response:
        authorization = request.headers.get("authorization", "").encode()
        if not hmac.compare_digest(authorization, self._authorization):
            return JSONResponse({"detail": "this is not the key of this service"}, 401)
        if self.questions is None:
            return JSONResponse({"detail": "the service is starting"}, 503, {"Retry-After": "2"})
        try:
            lines = await self._lines(self.questions, request, stack)
        except ServiceError as error:
            lines = _single(wire.error_line(error, ""))
        return LinesResponse(_whole(lines))

    async def _lines(self, questions: Questions, request: Request, stack: ExitStack) -> Lines:
        """Return the lines of an answer. Raises InvalidInput for what cannot be read."""
        body = await _body(request)
        operation = request.url.path.removeprefix(f"{wire.PREFIX}/")
        if operation == "configuration":
            generation = wire.read_request(body, wire.ASKED_CONFIGURATION).generation
            return _configuration(questions, generation)
        asked_question: AskedQuestion = wire.read_request(body, wire.ASKED)
        if asked_question.actor:
            stack.enter_context(acting_as(asked_question.actor))
        question = asked_question.question
        place = question.place
        set_call_scope(place.workspace)
        self.require(*(() if place.sequence is None else ("vectors",)))
        if operation == "retrieve":
            return _retrieved(questions, question)
        return _answered(questions, question)


def _require_nothing(*_: object) -> None:
    """Require nothing."""


class LinesResponse(StreamingResponse):
    """Lines, with a blank one whenever nothing else is sent for a while. The work behind them ends
    when the asker has gone.
    """

    media_type = "application/x-ndjson"

    def __init__(self, lines: Lines) -> None:
        self._lines = with_heartbeats(lines)
        super().__init__(self._lines)

    async def stream_response(self, send: Send) -> None:
        """Close the lines in any case."""
        async with aclosing(self._lines):
            await super().stream_response(send)


async def with_heartbeats(lines: Lines) -> Lines:
    """Yield the lines, and a blank one after each time of silence. The next line is asked for when
    the last one is sent: what is not read holds back what is made.
    """
    async with aclosing(lines):
        while True:
            coming = asyncio.ensure_future(anext(lines, b""))
            try:
                while not (await asyncio.wait((coming,), timeout=wire.HEARTBEAT))[0]:
                    yield wire.BLANK
            finally:
                if not coming.done():
                    coming.cancel()
                    await asyncio.gather(coming, return_exceptions=True)
            line = coming.result()
            if not line:
                return
            yield line


async def _whole(lines: Lines) -> Lines:
    """Yield the lines, and a last one that says that they are all, or why they are not."""
    async with aclosing(lines):
        try:
            async for line in lines:
                yield line
        except Exception as error:  # the status is already sent, so the error can only be a line
            id = uuid4().hex
            if not isinstance(error, ServiceError):
                logger.error("internal error", error_id=id, exc_info=error)
            yield wire.error_line(error, id)
        else:
            yield wire.line("end", True)


async def _answered(questions: Questions, question: QuestionRequest) -> Lines:
    """Yield a line for each step, the answer, and its pieces as they come."""
    steps: asyncio.Queue[wire.Progress | None] = asyncio.Queue()

    def on_progress(step: ProgressStep, detail: str = "") -> None:
        steps.put_nowait(wire.Progress(step, detail))

    asking = asyncio.ensure_future(questions.ask(question, on_progress))
    asking.add_done_callback(lambda _: steps.put_nowait(None))
    try:
        while (progress := await steps.get()) is not None:
            yield progress.line()
        answer = await asking
    finally:
        asking.cancel()
        await asyncio.gather(asking, return_exceptions=True)
    head = wire.line("answer", wire.AnswerHead.of(answer), wire.HEAD)
    if answer.pieces is None:
        yield head
        return
    async with aclosing(answer.pieces):
        yield head
        async for piece in answer.pieces:
            yield wire.line("piece", piece, wire.PIECE)


async def _retrieved(questions: Questions, question: QuestionRequest) -> Lines:
    yield wire.line("data", await questions.retrieve(question), wire.DATA)


async def _configuration(questions: Questions, generation: int) -> Lines:
    yield wire.line("configuration", await questions.configuration(generation))


async def _single(line: bytes) -> Lines:
    yield line


async def _body(request: Request) -> bytes:
    """Return the body. Raises TooLarge."""
    body = bytearray()
    async for part in request.stream():
        body += part
        if len(body) > MAX_BODY:
            raise TooLarge(f"a question has more than {MAX_BODY:,} bytes")
    return bytes(body)
