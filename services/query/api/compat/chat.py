"""A conversation as clients of Ollama and OpenAI have it: it becomes a question, and the answer becomes pieces."""

import time
from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing
from dataclasses import dataclass, field
from typing import Any

from fastapi import Response
from pydantic import ValidationError

from contracts.text import encodable
from services.query.answering.ask import Answer, ask
from services.query.api.compat.conversation import (
    ParsedMessage,
    is_task,
    join_instructions,
    recent_turns,
    reference_section,
    split_instructions,
)
from services.query.api.context import Context
from services.query.api.questions.models import MAX_MODEL_INPUT, HistoryMessage, QueryRequest, references_of
from services.query.api.questions.routes import POSITION_HEADER, spaces_at_position, to_question, wanted_output
from services.query.api.questions.streaming import NdjsonResponse
from services.query.errors import BadRequest
from services.query.question import Turn
from services.query.retrieval.dependencies import TokenCounter


@dataclass
class AnswerUsage:
    """What an answer takes: tokens, as our tokenizer counts what was sent and said, and nanoseconds."""

    count: TokenCounter
    prompt_tokens: int
    started_at: int = field(default_factory=time.monotonic_ns)
    first_piece_at: int = 0
    """When the first piece came."""
    pieces: list[str] = field(default_factory=list[str])

    def record(self, piece: str) -> str:
        """Give the piece on."""
        self.first_piece_at = self.first_piece_at or time.monotonic_ns()
        self.pieces.append(piece)
        return piece

    @property
    def answer_tokens(self) -> int:
        """Of everything that was said up to now."""
        return self.count("".join(self.pieces))


@dataclass(frozen=True)
class Reply:
    """An answer on its way to the client. `pieces` are taken once, and closed by whoever takes them."""

    pieces: AsyncGenerator[str]
    references: list[dict[str, Any]]
    usage: AnswerUsage

    async def text(self) -> str:
        """All pieces in one."""
        async with aclosing(self.pieces):
            return "".join([piece async for piece in self.pieces])


def last_user_message(turns: Sequence[Turn]) -> str:
    """What the user says now. Raises NotTaken."""
    if not turns or turns[-1].role != "user":
        raise BadRequest("the last message must be the user's")
    return turns[-1].content


def to_request(message: ParsedMessage, before: Sequence[Turn], system: str = "", *, bare: bool = False) -> QueryRequest:
    """The wish at the end of a conversation, as a request. What the system says is for the answering model.

    `bare`: without USER_PROMPT_PREFIX. Raises NotTaken for what `/query` would refuse.
    """
    instructions, turns = split_instructions(before)
    task = is_task(message.query)
    user_prompt = join_instructions((system, instructions, message.instructions))
    history = recent_turns(turns, MAX_MODEL_INPUT - len(message.query) - len(user_prompt))
    try:
        return QueryRequest(
            query=message.query,
            mode="bypass" if task else message.mode,
            only_need_context=message.context and not task,
            user_prompt=user_prompt or None,
            disable_user_prompt_prefix=bare or task,
            conversation_history=[HistoryMessage(role=turn.role, content=turn.content) for turn in history],
        )
    except ValidationError as error:
        raise BadRequest(
            encodable("; ".join(fault["msg"].removeprefix("Value error, ") for fault in error.errors()))
        ) from None


async def answer_request(
    request: QueryRequest, ctx: Context, workspace: str, response: Response, *, streamed: bool
) -> Reply:
    """The answer, on the one road from question to answer."""
    count = ctx.deps.count_tokens
    sent = [request.query, request.user_prompt or "", *(said.content for said in request.conversation_history or ())]
    meter = AnswerUsage(count, sum(map(count, sent)))
    spaces = await spaces_at_position(request, ctx, workspace, response)
    answer = await ask(
        to_question(request, ctx.settings), spaces, ctx.deps, output=wanted_output(request), streamed=streamed
    )
    shown = references_of(request, answer) or []
    return Reply(
        _pieces(request, answer, meter),
        [reference.model_dump(include={"reference_id", "file_path"}) for reference in shown],
        meter,
    )


async def _pieces(request: QueryRequest, answer: Answer, meter: AnswerUsage) -> AsyncGenerator[str]:
    """The text as it is written, and below it the files it cites."""
    if answer.pieces is None:
        yield meter.record(answer.text)
    else:
        async with aclosing(answer.pieces):
            async for piece in answer.pieces:
                yield meter.record(piece)
    # A context ends with its references already.
    below = "" if request.only_need_context else reference_section("".join(meter.pieces), answer.found.references)
    if below:
        yield meter.record(below)


def with_position(stream: NdjsonResponse, response: Response) -> NdjsonResponse:
    """The stream, whose headers say where in the log the answer stands."""
    stream.headers[POSITION_HEADER] = response.headers[POSITION_HEADER]
    return stream
