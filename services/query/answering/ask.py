"""Answers a question: retrieval, context and generation, with the answer whole or streamed."""

from collections.abc import AsyncGenerator, Mapping
from contextlib import aclosing
from dataclasses import dataclass, replace
from functools import partial

from services.query.answering.answer_text import StreamCleaner, clean
from services.query.answering.citations import cited_ids
from services.query.answering.dependencies import QueryDependencies
from services.query.answering.effort import retrieve_with_effort
from services.query.answering.port import CachedAnswer
from services.query.context.layout import build_context
from services.query.context.prompt import Prompt, answer_prompt
from services.query.partitions import Partitions
from services.query.question import Output, Question
from services.query.retrieval.results import RetrievalResult

NO_CONTEXT = "Sorry, nothing in the documents answers that question. [no-context]"
"""The answer to a question without any context; clients look for the marker at its end."""

NEEDS_MODEL = (
    "The mode bypass puts the question to a language model, and none is configured: set LLM_BASE_URL or LLM_API_KEY, "
    "or ask in another mode."
)


@dataclass(frozen=True)
class Answer:
    """An answer with the retrieval result that it is based on.

    `pieces` yields the text of a streamed answer. The reader closes it, which also stops an unfinished generation.
    """

    text: str
    found: RetrievalResult
    by_model: bool = False
    pieces: AsyncGenerator[str] | None = None


async def ask(
    question: Question,
    partitions: Partitions,
    deps: QueryDependencies,
    *,
    output: Output = "answer",
    streamed: bool = False,
) -> Answer:
    """Answer the question; streamed if `streamed` is set and a model answers.

    Raises `Unavailable` when a store or a model does not respond; `Answer.pieces` raises what `Chat.stream` raises.
    """
    bypass = question.mode == "bypass"
    cache = deps.answer_cache if output == "answer" else None
    entry_for = await cache.entry_factory(question, partitions.all) if cache else None
    found = await retrieve_with_effort(question, partitions, deps)
    if not found and (not bypass or output == "context"):
        return Answer(NO_CONTEXT, found)
    context = "" if bypass else build_context(found.entities, found.relations, found.passages, found.references)
    if output == "context":
        return Answer(context, found)
    prompt = answer_prompt(question, context)
    if output == "prompt":
        return Answer(prompt.text, found)
    if bypass and not deps.answer_generator.uses_model:
        return Answer(NEEDS_MODEL, found)
    deps.on_progress("generating_response")
    entry = entry_for(prompt) if entry_for else None
    references = None if bypass or not deps.answer_generator.uses_model else found.references
    return await _generate(prompt, found, references, entry, deps, streamed=streamed)


async def _generate(
    prompt: Prompt,
    found: RetrievalResult,
    references: Mapping[str, str] | None,
    entry: CachedAnswer | None,
    deps: QueryDependencies,
    *,
    streamed: bool,
) -> Answer:
    """Generate the answer. `entry` caches the text before cleaning, because the rules of cleaning may change."""
    answers = deps.answer_generator
    if entry and (cached_text := await entry.get()) is not None:
        return Answer(clean(cached_text, references), found, by_model=True)
    if streamed and (pieces := answers.stream(prompt)):
        text = _clean_stream(entry.store_stream(pieces) if entry else pieces, StreamCleaner(references))
        return Answer("", found, answers.uses_model, text)
    create = partial(answers.answer, prompt, found.passages)
    text = clean(await (entry.get_or_create(create) if entry else create()), references)
    return Answer(text, found if answers.uses_model else _only_cited(text, found), answers.uses_model)


def _only_cited(text: str, found: RetrievalResult) -> RetrievalResult:
    """Return the result with those references that the quotations cite: the other passages do not answer."""
    cited = cited_ids(text, found.references.values())
    return replace(found, references={path: id for path, id in found.references.items() if id in cited})


async def _clean_stream(pieces: AsyncGenerator[str], filters: StreamCleaner) -> AsyncGenerator[str]:
    """Yield the cleaned text in pieces."""
    async with aclosing(pieces):
        async for piece in pieces:
            if part := filters.feed(piece):
                yield part
    if part := filters.end():
        yield part
