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
from services.query.api.compat.conversation import Wish, is_task, joined, kept, listed, parted
from services.query.api.context import Context
from services.query.api.questions.models import MAX_TEXT, HistoryMessage, QueryRequest, references_of
from services.query.api.questions.routes import POSITION, asked, standing, wanted_of
from services.query.api.questions.streaming import Ndjson
from services.query.errors import NotTaken
from services.query.question import Turn
from services.query.retrieval.dependencies import TokenCounter


@dataclass
class Meter:
    """What an answer takes: tokens, as our tokenizer counts what was sent and said, and nanoseconds."""

    count: TokenCounter
    prompt_tokens: int
    began: int = field(default_factory=time.monotonic_ns)
    first: int = 0
    """When the first piece came."""
    said: list[str] = field(default_factory=list[str])

    def note(self, piece: str) -> str:
        """Give the piece on."""
        self.first = self.first or time.monotonic_ns()
        self.said.append(piece)
        return piece

    @property
    def answer_tokens(self) -> int:
        """Of everything that was said up to now."""
        return self.count("".join(self.said))


@dataclass(frozen=True)
class Reply:
    """An answer on its way to the client. `pieces` are taken once, and closed by whoever takes them."""

    pieces: AsyncGenerator[str]
    references: list[dict[str, Any]]
    meter: Meter

    async def whole(self) -> str:
        """All pieces in one."""
        async with aclosing(self.pieces):
            return "".join([piece async for piece in self.pieces])


def last(turns: Sequence[Turn]) -> str:
    """What the user says now. Raises NotTaken."""
    if not turns or turns[-1].role != "user":
        raise NotTaken("the last message must be the user's")
    return turns[-1].content


def question(wish: Wish, before: Sequence[Turn], system: str = "", *, bare: bool = False) -> QueryRequest:
    """The wish at the end of a conversation, as a request. What the system says is for the answering model.

    `bare`: without USER_PROMPT_PREFIX. Raises NotTaken for what `/query` would refuse.
    """
    instructions, turns = parted(before)
    task = is_task(wish.query)
    told = joined((system, instructions, wish.instructions))
    history = kept(turns, MAX_TEXT - len(wish.query) - len(told))
    try:
        return QueryRequest(
            query=wish.query,
            mode="bypass" if task else wish.mode,
            only_need_context=wish.context and not task,
            user_prompt=told or None,
            disable_user_prompt_prefix=bare or task,
            conversation_history=[HistoryMessage(role=turn.role, content=turn.content) for turn in history],
        )
    except ValidationError as error:
        raise NotTaken(
            encodable("; ".join(fault["msg"].removeprefix("Value error, ") for fault in error.errors()))
        ) from None


async def reply(request: QueryRequest, ctx: Context, workspace: str, response: Response, *, streamed: bool) -> Reply:
    """The answer, on the one road from question to answer."""
    count = ctx.deps.count_tokens
    sent = [request.query, request.user_prompt or "", *(said.content for said in request.conversation_history or ())]
    meter = Meter(count, sum(map(count, sent)))
    spaces = await standing(request, ctx, workspace, response)
    answer = await ask(asked(request, ctx.settings), spaces, ctx.deps, wanted=wanted_of(request), streamed=streamed)
    shown = references_of(request, answer) or []
    return Reply(
        _pieces(request, answer, meter),
        [reference.model_dump(include={"reference_id", "file_path"}) for reference in shown],
        meter,
    )


async def _pieces(request: QueryRequest, answer: Answer, meter: Meter) -> AsyncGenerator[str]:
    """The text as it is written, and below it the files it cites."""
    if answer.pieces is None:
        yield meter.note(answer.text)
    else:
        async with aclosing(answer.pieces):
            async for piece in answer.pieces:
                yield meter.note(piece)
    # A context ends with its references already.
    below = "" if request.only_need_context else listed("".join(meter.said), answer.found.references)
    if below:
        yield meter.note(below)


def placed(stream: Ndjson, response: Response) -> Ndjson:
    """The stream, whose headers say where in the log the answer stands."""
    stream.headers[POSITION] = response.headers[POSITION]
    return stream
