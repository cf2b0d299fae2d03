"""From a question to an answer: retrieval, context, and whoever answers from it, in one piece or in many."""

from collections.abc import AsyncGenerator, Collection
from contextlib import aclosing
from dataclasses import dataclass

from services.query.domain.context import layout
from services.query.domain.found import Found
from services.query.domain.prompt import Prompt, answer_prompt
from services.query.domain.question import Question, Wanted
from services.query.domain.references import KnownOnly, known_only
from services.query.library import Library, Spaces
from services.query.retrieve import retrieve

NO_CONTEXT = "Sorry, nothing in the documents answers that question. [no-context]"
"""Clients look for the marker at the end."""

NEEDS_MODEL = (
    "The mode bypass puts the question to a language model, and none is configured: set LLM_BASE_URL or LLM_API_KEY, "
    "or ask in another mode."
)


@dataclass(frozen=True)
class Answer:
    """The answer with what it rests on.

    `pieces`: its text is still being written. Whoever reads it closes it, which ends the work wherever it stands.
    """

    text: str
    found: Found
    by_model: bool = False
    pieces: AsyncGenerator[str] | None = None


async def ask(
    question: Question, spaces: Spaces, library: Library, *, wanted: Wanted = "answer", streamed: bool = False
) -> Answer:
    """Answer the question; in pieces where that is asked for and a model answers.

    Raises `Unavailable` when a store or a model does not answer; pieces raise what `Chat.stream` raises.
    """
    bypass = question.mode == "bypass"
    found = await retrieve(question, spaces, library)
    if not found and (not bypass or wanted == "context"):
        return Answer(NO_CONTEXT, found)
    context = "" if bypass else layout(found.entities, found.relations, found.passages, found.references)
    if wanted == "context":
        return Answer(context, found)
    prompt = answer_prompt(question, context)
    if wanted == "prompt":
        return Answer(prompt.text, found)
    if bypass and not library.answers.uses_model:
        return Answer(NEEDS_MODEL, found)
    library.tell("generating_response")
    return await _answered(prompt, found, None if bypass else found.references.values(), library, streamed=streamed)


async def _answered(
    prompt: Prompt, found: Found, ids: Collection[str] | None, library: Library, *, streamed: bool
) -> Answer:
    """`ids`: the references that may be cited; None: whatever stands in brackets is no citation."""
    answers = library.answers
    if streamed and (pieces := answers.stream(prompt)):
        return Answer("", found, answers.uses_model, pieces if ids is None else _cited(pieces, ids))
    text = await answers.answer(prompt, found.passages)
    return Answer(text if ids is None else known_only(text, ids), found, answers.uses_model)


async def _cited(pieces: AsyncGenerator[str], ids: Collection[str]) -> AsyncGenerator[str]:
    """The pieces without citations of references that there are not."""
    citations = KnownOnly(ids)
    async with aclosing(pieces):
        async for piece in pieces:
            if part := citations.feed(piece):
                yield part
    if part := citations.end():
        yield part
