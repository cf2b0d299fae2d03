"""From a question to an answer: retrieval, context, and whoever answers from it."""

from dataclasses import dataclass

from services.query.domain.context import layout
from services.query.domain.found import Found
from services.query.domain.question import Question
from services.query.library import Library, Spaces
from services.query.retrieve import retrieve

NO_CONTEXT = "Sorry, nothing in the documents answers that question. [no-context]"
"""Clients look for the marker at the end."""


@dataclass(frozen=True)
class Answer:
    """The answer with what it rests on."""

    text: str
    found: Found
    by_model: bool


async def ask(question: Question, spaces: Spaces, library: Library, *, only_context: bool = False) -> Answer:
    """Answer the question. Raises `Unavailable` when a store or a model does not answer."""
    found = await retrieve(question, spaces, library)
    if not found:
        return Answer(NO_CONTEXT, found, by_model=False)
    context = layout(found.entities, found.relations, found.passages, found.references)
    if only_context:
        return Answer(context, found, by_model=False)
    text = await library.answers.answer(question, context, found.passages)
    return Answer(text, found, by_model=library.answers.uses_model)
