"""An answer as lines of JSON while it is being written, in LightRAG's framing."""

import asyncio
import json
import time
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import aclosing
from typing import Any

from fastapi.responses import StreamingResponse
from starlette.types import Send

from services.query.answering.ask import Answer
from services.query.api.errors import describe_error
from services.query.api.questions.models import QueryRequest, references_of
from services.query.retrieval.dependencies import ProgressCallback, ignore_progress

HEADERS = {"Cache-Control": "no-cache", "Connection": "keep-alive", "X-Accel-Buffering": "no"}

AskFunction = Callable[[ProgressCallback], Awaitable[Answer]]
"""Asks the question; tells of each step."""

Lines = AsyncGenerator[str]


class NdjsonResponse(StreamingResponse):
    """Lines, each sent when the client has room for it. They are closed when the client goes away."""

    kind = "application/x-ndjson"

    def __init__(self, lines: Lines) -> None:
        self._lines = lines
        # Set whole, for Starlette would add a charset to a media type.
        super().__init__(lines, headers={"Content-Type": self.kind, **HEADERS})

    async def stream_response(self, send: Send) -> None:
        """Close the lines in any case: cancelled while it waits for the client, Starlette would leave them open."""
        async with aclosing(self._lines):
            await super().stream_response(send)


class EventStreamResponse(NdjsonResponse):
    """Server-sent events."""

    kind = "text/event-stream"


async def answer_lines(request: QueryRequest, ask_question: AskFunction, path: str) -> Lines:
    """The lines of an answer.

    Without progress lines nothing is sent before the answer begins, so that what is raised until then has an HTTP
    status of its own. What happens afterwards is a line.
    """
    if request.include_progress:
        return with_error_line(_with_progress(request, ask_question), path, _error_line)
    return with_error_line(_answer_lines(request, await ask_question(ignore_progress)), path, _error_line)


def _error_line(_: int, detail: str) -> str:
    return _line(error=detail)


async def with_error_line(lines: Lines, path: str, failed: Callable[[int, str], str]) -> Lines:
    """The lines; where one cannot be made, what `failed` makes of the status and the sentence of the error."""
    async with aclosing(lines):
        try:
            async for line in lines:
                yield line
        except Exception as error:  # the status is sent: this line is the only way left to tell of any error
            yield failed(*describe_error(error, path))


async def _with_progress(request: QueryRequest, ask_question: AskFunction) -> Lines:
    """Each step as it begins, then the answer, then how many seconds all of it took."""
    started = time.monotonic()
    steps: asyncio.Queue[str | None] = asyncio.Queue()
    work = asyncio.ensure_future(ask_question(steps.put_nowait))
    work.add_done_callback(lambda _: steps.put_nowait(None))
    try:
        while (step := await steps.get()) is not None:
            yield _line(progress=step)
        lines = _answer_lines(request, await work)
    finally:
        work.cancel()
        await asyncio.gather(work, return_exceptions=True)
    async with aclosing(lines):
        async for line in lines:
            yield line
    yield _line(response_time=round(time.monotonic() - started, 3))


async def _answer_lines(request: QueryRequest, answer: Answer) -> Lines:
    """One line for an answer that is there; else the references, then its pieces as they come."""
    references = [
        reference.model_dump(exclude=set() if request.include_chunk_content else {"content"})
        for reference in references_of(request, answer) or ()
    ]
    listed = {"references": references} if request.include_references else {}
    if answer.pieces is None:
        yield _line(response=answer.text, llm_generated=answer.by_model, **listed)
        return
    async with aclosing(answer.pieces):
        if listed:
            yield _line(**listed)
        async for piece in answer.pieces:
            yield _line(response=piece)


def _line(**fields: Any) -> str:
    return json.dumps(fields) + "\n"
