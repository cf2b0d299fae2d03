"""Converts a conversation of an Ollama or OpenAI client into a question, and the answer into pieces
with usage.
"""

import time
from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing
from dataclasses import dataclass, field
from typing import Any

from fastapi import Response
from pydantic import ValidationError

from contracts.text import encodable
from services.gateway.compat.conversation import (
    ParsedMessage,
    is_task,
    join_instructions,
    recent_turns,
    reference_section,
    split_instructions,
)
from services.gateway.questions.dependencies import CountTokens, QuestionDependencies
from services.gateway.questions.models import (
    MAX_MODEL_INPUT,
    HistoryMessage,
    QueryRequest,
    mode_choice,
    references_of,
)
from services.gateway.questions.routes import (
    place_of,
    question_request,
    set_receipt,
)
from services.query.answer import Answer
from services.query.errors import BadRequest
from services.query.question import Turn
from services.query.visibility.viewer import Viewer


@dataclass
class AnswerUsage:
    """Token counts and times of an answer: the times are nanoseconds of a monotonic clock."""

    count: CountTokens
    prompt_tokens: int
    started_at: int = field(default_factory=time.monotonic_ns)
    first_piece_at: int = 0
    """The time of the first piece, 0 until there is one."""
    pieces: list[str] = field(default_factory=list[str])
    is_truncated: bool = False
    """Whether the model ended before the answer's end, so far as the pieces were read."""

    def record(self, piece: str) -> str:
        """Count a piece of the answer, and return it."""
        self.first_piece_at = self.first_piece_at or time.monotonic_ns()
        self.pieces.append(piece)
        return piece

    @property
    def answer_tokens(self) -> int:
        """Return the tokens of all pieces up to now."""
        return self.count("".join(self.pieces))


@dataclass(frozen=True)
class Reply:
    """An answer being generated. `pieces` can be read once; the reader must close them."""

    pieces: AsyncGenerator[str]
    sources: dict[str, Any]
    """The fields beside the answer that say what it is from: `references`, where `auto` has chosen
    `mode` and `mode_reason`, and the `receipt` where one is recorded.
    """
    usage: AnswerUsage

    async def text(self) -> str:
        """Return all pieces joined."""
        async with aclosing(self.pieces):
            return "".join([piece async for piece in self.pieces])


def last_user_message(turns: Sequence[Turn]) -> str:
    """Return the last message, which must be the user's. Raises BadRequest."""
    if not turns or turns[-1].role != "user":
        raise BadRequest("the last message must be the user's")
    return turns[-1].content


def to_request(
    message: ParsedMessage, before: Sequence[Turn], system: str = "", *, bare: bool = False
) -> QueryRequest:
    """Return the last message of a conversation as a question, with the turns before it as its
    history.

    `system`: instructions for the answering model. `bare`: leave out USER_PROMPT_PREFIX. Raises
    BadRequest for what `/query` would refuse.
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
            conversation_history=[
                HistoryMessage(role=turn.role, content=turn.content) for turn in history
            ],
        )
    except ValidationError as error:
        raise BadRequest(
            encodable(
                "; ".join(fault["msg"].removeprefix("Value error, ") for fault in error.errors())
            )
        ) from None


@dataclass(frozen=True)
class Asker:
    """Where is asked, and who sees the answer; see `Viewer`."""

    workspace: str
    viewer: Viewer | None


async def answer_request(
    request: QueryRequest,
    deps: QuestionDependencies,
    asker: Asker,
    response: Response,
    *,
    is_streamed: bool,
    note: str = "",
) -> Reply:
    """Ask the question, and return the reply as it is generated. `note` stands below the answer."""
    count = deps.count_tokens
    history = request.conversation_history or ()
    texts = [request.query, request.user_prompt or "", *(message.content for message in history)]
    meter = AnswerUsage(count, sum(map(count, texts)))
    place = await place_of(request, deps, asker.workspace, response)
    answer = await deps.questions.ask(
        question_request(request, place, asker.viewer, is_streamed=is_streamed)
    )
    set_receipt(response, answer)
    references = references_of(request, answer) or []
    return Reply(
        _pieces(request, answer, meter, note),
        {
            "references": [
                reference.model_dump(include={"reference_id", "file_path"})
                for reference in references
            ],
            **mode_choice(answer.retrieval),
            **({"receipt": answer.receipt} if answer.receipt else {}),
        },
        meter,
    )


async def _pieces(
    request: QueryRequest, answer: Answer, meter: AnswerUsage, note: str
) -> AsyncGenerator[str]:
    """Yield the text as it is generated, and below it the note and the list of cited files."""
    if answer.pieces is None:
        meter.is_truncated = answer.truncated
        yield meter.record(answer.text)
    else:
        async with aclosing(answer.pieces):
            async for piece in answer.pieces:
                meter.is_truncated = meter.is_truncated or piece.cut
                if piece.text:
                    yield meter.record(piece.text)
    if note:
        yield meter.record(note)
    # A context ends with its references already.
    section = (
        ""
        if request.only_need_context
        else reference_section("".join(meter.pieces), answer.retrieval)
    )
    if section:
        yield meter.record(section)
