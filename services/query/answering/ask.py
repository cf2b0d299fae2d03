"""Answers a question: retrieval, context and generation, with the answer whole or streamed."""

from collections.abc import AsyncGenerator, Mapping
from contextlib import aclosing
from dataclasses import replace
from functools import partial

from runtime.models.port import AnswerPiece
from services.query.answer import Answer
from services.query.answering.answer_text import clean, cleaner
from services.query.answering.citations import cited_ids
from services.query.answering.contradiction_note import with_contradiction_note
from services.query.answering.dependencies import QueryDependencies
from services.query.answering.effort import retrieve_with_effort
from services.query.answering.port import CachedAnswer
from services.query.answering.safe_markdown import SafeMarkdown, safe
from services.query.answering.supersession_note import with_supersession_note
from services.query.context.layout import build_context
from services.query.context.prompt import Prompt, answer_prompt
from services.query.context.source_notes import source_notes
from services.query.partitions import Partitions
from services.query.question import Mode, Output, Question
from services.query.retrieval.earlier_turns import search_text
from services.query.retrieval.results import RetrievalResult

NO_CONTEXT = "Sorry, nothing in the documents answers that question. [no-context]"
"""The answer to a question without any context; clients look for the marker at its end."""

NEEDS_MODEL = (
    "The mode bypass puts the question to a language model, and none is configured: "
    "set LLM_BASE_URL or LLM_API_KEY, or ask in another mode."
)


async def ask(
    question: Question,
    partitions: Partitions,
    deps: QueryDependencies,
    *,
    output: Output = "answer",
    is_streamed: bool = False,
) -> Answer:
    """Answer the question; streamed if `is_streamed` is set and a model answers.

    Raises `Unavailable` when a store or a model does not respond; `Answer.pieces` raises what
    `Chat.stream` raises.
    """
    with deps.measure("total", question.mode):
        return await _ask(question, partitions, deps, output, is_streamed)


async def _ask(
    question: Question,
    partitions: Partitions,
    deps: QueryDependencies,
    output: Output,
    is_streamed: bool,
) -> Answer:
    bypass = question.mode == "bypass"
    cache = deps.answer_cache if output == "answer" else None
    entry_for = await cache.entry_factory(question, partitions.all) if cache else None
    retrieval = await retrieve_with_effort(question, partitions, deps)
    if not retrieval and (not bypass or output == "context"):
        return Answer(_no_context(retrieval), retrieval)
    context = "" if bypass else _context(retrieval)
    if output == "context":
        return Answer(context, retrieval)
    prompt = answer_prompt(
        question,
        context,
        has_outdated=bool(retrieval.standings),
        has_outweighed=bool(retrieval.precedences),
    )
    if output == "prompt":
        return Answer(prompt.text, retrieval)
    if bypass and not deps.answer_generator.uses_model:
        return Answer(NEEDS_MODEL, retrieval)
    if not deps.answer_generator.uses_model:
        prompt = replace(prompt, query=search_text(question))
    deps.on_progress("generating_response")
    entry = entry_for(prompt) if entry_for else None
    references = None if bypass or not deps.answer_generator.uses_model else retrieval.references
    if entry and (cached_text := await entry.get()) is not None:
        return Answer(clean(cached_text, references), retrieval, by_model=True, prompt=prompt)
    if is_streamed and (pieces := deps.answer_generator.stream(prompt)):
        pieces = _measured(entry.store_stream(pieces) if entry else pieces, deps, question.mode)
        return Answer(
            "",
            retrieval,
            deps.answer_generator.uses_model,
            _clean_stream(pieces, references),
            prompt=prompt,
        )
    with deps.measure("generate", question.mode):
        return await _generate(prompt, retrieval, references, entry, deps)


def _context(retrieval: RetrievalResult) -> str:
    """Return what was found as the text that a model reads."""
    references = retrieval.references
    notes = source_notes(retrieval.standings.values(), retrieval.precedences, references)
    return build_context(
        retrieval.entities, retrieval.relations, retrieval.passages, references, notes
    )


def _no_context(retrieval: RetrievalResult) -> str:
    """Return the answer without context, with the reason if the search was a poor one; its marker
    ends it.
    """
    note = retrieval.info.get("keywords_note")
    sentence, _, marker = NO_CONTEXT.rpartition(" ")
    return f"{sentence} ({note}) {marker}" if note else NO_CONTEXT


async def _generate(
    prompt: Prompt,
    retrieval: RetrievalResult,
    references: Mapping[str, str] | None,
    entry: CachedAnswer | None,
    deps: QueryDependencies,
) -> Answer:
    """Generate the answer. `entry` caches the text before cleaning, because the rules of cleaning
    may change.
    """
    answers = deps.answer_generator
    create = partial(answers.answer, prompt, retrieval.passages, retrieval.levels)
    completion = await (entry.get_or_create(create) if entry else create())
    text = clean(completion.text, references)
    if not answers.uses_model:
        text = with_contradiction_note(with_supersession_note(text, retrieval), retrieval)
    return Answer(
        text,
        retrieval if answers.uses_model else _only_cited(text, retrieval),
        answers.uses_model,
        truncated=completion.cut,
        reasoning=safe(completion.reasoning),
        prompt_truncated=completion.narrow,
        prompt=prompt,
    )


def _only_cited(text: str, retrieval: RetrievalResult) -> RetrievalResult:
    """Return the result with those references that the quotations cite: the other passages do not
    answer.
    """
    used_ids = cited_ids(text, retrieval.references.values())
    return replace(
        retrieval,
        references={path: id for path, id in retrieval.references.items() if id in used_ids},
    )


async def _measured(
    pieces: AsyncGenerator[AnswerPiece], deps: QueryDependencies, mode: Mode
) -> AsyncGenerator[AnswerPiece]:
    """Yield the pieces, and measure how long the last one takes to come."""
    with deps.measure("generate", mode, is_nested=False):
        async with aclosing(pieces):
            async for piece in pieces:
                yield piece


async def _clean_stream(
    pieces: AsyncGenerator[AnswerPiece], references: Mapping[str, str] | None
) -> AsyncGenerator[AnswerPiece]:
    """Yield the cleaned text in pieces, and the reasoning without what loads or runs when it is
    shown.
    """
    text = cleaner(references)
    reasoning = SafeMarkdown()
    is_cut = False
    is_narrow = False
    async with aclosing(pieces):
        async for piece in pieces:
            if piece.resets:
                text = cleaner(references)
            is_cut = is_cut or piece.cut
            is_narrow = is_narrow or piece.narrow
            part = AnswerPiece(
                text.feed(piece.text), reasoning.feed(piece.reasoning), resets=piece.resets
            )
            if part or part.resets:
                yield part
    last_piece = AnswerPiece(text.end(), reasoning.end(), is_cut, narrow=is_narrow)
    if last_piece or last_piece.cut or last_piece.narrow:
        yield last_piece
