"""Streams an answer as lines of JSON while it is generated, in LightRAG's framing."""

import asyncio
import json
import time
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import aclosing
from typing import Any

from fastapi.responses import StreamingResponse
from starlette.types import Send

from runtime.models.port import AnswerPiece
from services.gateway.errors import describe_error
from services.gateway.questions.models import QueryRequest, mode_choice, references_of, rounds_of
from services.gateway.questions.standings import outdated_sources, outweighed_statements
from services.query.answer import Answer
from services.query.question import ProgressCallback, ProgressStep, ignore_progress

HEADERS = {"Cache-Control": "no-cache", "Connection": "keep-alive", "X-Accel-Buffering": "no"}

AskFunction = Callable[[ProgressCallback], Awaitable[Answer]]
"""Asks the question, and reports each step to the callback."""

Lines = AsyncGenerator[str]


class NdjsonResponse(StreamingResponse):
    """A stream of JSON lines, sent as fast as the client reads; closes the generator when the
    client disconnects.
    """

    kind = "application/x-ndjson"

    def __init__(self, lines: Lines) -> None:
        self._lines = lines
        # Set as a header, because Starlette would add a charset to a media type.
        super().__init__(lines, headers={"Content-Type": self.kind, **HEADERS})

    async def stream_response(self, send: Send) -> None:
        """Close the generator in any case; Starlette leaves it open when it is cancelled while
        sending.
        """
        async with aclosing(self._lines):
            await super().stream_response(send)


class EventStreamResponse(NdjsonResponse):
    """Server-sent events."""

    kind = "text/event-stream"


async def answer_lines(request: QueryRequest, ask_question: AskFunction, path: str) -> Lines:
    """Return the lines of an answer, once the first can be sent.

    That of a step is sent when the step begins, and without such lines nothing is sent before the
    answer starts: an error until then has its own status code. A later error is a line.
    """
    if request.include_progress:
        lines = _with_progress(request, ask_question)
        return with_error_line(_continued(await anext(lines), lines), path, error_line)
    return with_error_line(
        _answer_lines(request, await ask_question(ignore_progress)), path, error_line
    )


async def _continued(first_line: str, lines: Lines) -> Lines:
    """Yield the first line, which was read already, and the others."""
    async with aclosing(lines):
        yield first_line
        async for line in lines:
            yield line


def error_line(_: int, detail: str) -> str:
    """Return the line that tells of an error after the first line was sent."""
    return _line(error=detail)


async def with_error_line(
    lines: Lines, path: str, format_failure: Callable[[int, str], str]
) -> Lines:
    """Yield the lines, and after an error the line that `format_failure` makes of its status code
    and sentence.
    """
    async with aclosing(lines):
        try:
            async for line in lines:
                yield line
        except Exception as error:  # the status is already sent, so the error can only be a line
            yield format_failure(*describe_error(error, path))


async def _with_progress(request: QueryRequest, ask_question: AskFunction) -> Lines:
    """Yield a line for each step, those of the answer, and one with the seconds that all of it
    took.
    """
    started_at = time.monotonic()
    lines_of_steps: asyncio.Queue[str | None] = asyncio.Queue()

    def on_progress(step: ProgressStep, detail: str = "") -> None:
        details = {"detail": detail} if detail else {}
        lines_of_steps.put_nowait(_line(progress=step, **details))

    work = asyncio.ensure_future(ask_question(on_progress))
    work.add_done_callback(lambda _: lines_of_steps.put_nowait(None))
    try:
        while (line := await lines_of_steps.get()) is not None:
            yield line
        lines = _answer_lines(request, await work)
    finally:
        work.cancel()
        await asyncio.gather(work, return_exceptions=True)
    async with aclosing(lines):
        async for line in lines:
            yield line
    yield _line(response_time=round(time.monotonic() - started_at, 3))


async def _answer_lines(request: QueryRequest, answer: Answer) -> Lines:
    """Yield one line for a complete answer, else the references and then the pieces as they
    come.
    """
    references = [
        reference.model_dump(exclude=set() if request.include_chunk_content else {"content"})
        for reference in references_of(request, answer) or ()
    ]
    reference_fields: dict[str, Any] = (
        {"references": references} if request.include_references else {}
    )
    reference_fields |= mode_choice(answer.retrieval)
    if answer.receipt:
        reference_fields["receipt"] = answer.receipt
    if entries := outdated_sources(answer.retrieval):
        reference_fields["outdated_sources"] = [entry.model_dump(mode="json") for entry in entries]
    if statements := outweighed_statements(answer.retrieval):
        reference_fields["outweighed_statements"] = [item.model_dump() for item in statements]
    if (rounds := rounds_of(answer)) is not None:
        reference_fields["rounds"] = [search_round.model_dump() for search_round in rounds]
    if answer.pieces is None:
        reasoning = (
            {"reasoning": answer.reasoning}
            if request.include_reasoning and answer.reasoning
            else {}
        )
        truncation = {"truncated": True} if answer.truncated else {}
        if answer.prompt_truncated:
            truncation["prompt_truncated"] = True
        yield _line(
            response=answer.text,
            llm_generated=answer.by_model,
            **reference_fields,
            **reasoning,
            **truncation,
        )
        return
    async with aclosing(answer.pieces):
        if reference_fields:
            yield _line(**reference_fields)
        async for piece in answer.pieces:
            if fields := _fields(piece, with_reasoning=request.include_reasoning):
                yield _line(**fields)


def _fields(piece: AnswerPiece, *, with_reasoning: bool) -> dict[str, Any]:
    """Return the fields of a line that have a piece of the answer; none for a piece that says
    nothing.
    """
    fields: dict[str, Any] = {}
    if piece.resets:
        fields["reset"] = True
    if piece.reasoning and with_reasoning:
        fields["reasoning"] = piece.reasoning
    if piece.text:
        fields["response"] = piece.text
    if piece.cut:
        fields["truncated"] = True
    if piece.narrow:
        fields["prompt_truncated"] = True
    return fields


def _line(**fields: Any) -> str:
    return json.dumps(fields) + "\n"
