"""Retrieval for a question: keywords, the stages of its mode, passages, reranking and the token
budget.
"""

from collections.abc import AsyncGenerator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import replace
from functools import partial
from typing import TypeVar

from runtime.errors import Unavailable
from services.query.context.layout import count_frame, count_passage
from services.query.context.prompt import answer_prompt
from services.query.context.reference_ids import assign_reference_ids
from services.query.partitions import Partitions
from services.query.passage import Passage
from services.query.question import Keywords, Question, search_keywords
from services.query.retrieval.dependencies import RetrievalDependencies
from services.query.retrieval.doubles import DistinctPassages, distinct_passages
from services.query.retrieval.earlier_turns import search_text
from services.query.retrieval.in_force import in_force_first
from services.query.retrieval.mode_selection import choose_mode, with_walked
from services.query.retrieval.modes import search_by_mode
from services.query.retrieval.multihop.walk import walk
from services.query.retrieval.results import RetrievalResult, SearchResult
from services.query.retrieval.scoping import documents_in_scope
from services.query.retrieval.token_budget import fit_budget

T = TypeVar("T")
D = TypeVar("D", bound=RetrievalDependencies)

WITHOUT_KEYWORDS = {"naive", "walk"}
"""Modes that extract no keywords."""

VISIBLE_ATTEMPTS = 5
"""Times that is read where documents are hidden meanwhile."""

REFERENCES_RESERVE = 200
"""Tokens reserved for the list of references."""


async def retrieve(
    question: Question, partitions: Partitions, deps: RetrievalDependencies
) -> RetrievalResult:
    """Return entities, relations and passages for the question in its mode, of documents that its
    viewer sees. Raises `Unavailable`.
    """
    if question.mode == "bypass":
        return RetrievalResult()

    async def read(seen_question: Question) -> RetrievalResult:
        return await _retrieve_in_mode(seen_question, partitions, deps)

    return await read_as_seen(question, partitions, deps, read)


async def read_as_seen(
    question: Question,
    partitions: Partitions,
    deps: RetrievalDependencies,
    read: Callable[[Question], Awaitable[T]],
) -> T:
    """Return what `read` returns for the question with the documents that its viewer sees: no fewer
    were seen when it had read. Raises `Unavailable`.
    """
    if question.viewer is None:
        return await read(question)
    workspace = partitions.status.workspace
    for _ in range(VISIBLE_ATTEMPTS):
        visible = await deps.visibility.of(workspace, question.viewer)
        result = await read(replace(question, visible=visible))
        # A document may have been hidden, or have got a text that is, while this was read.
        if visible.shows_no_more_than(await deps.visibility.of(workspace, question.viewer)):
            return result
    raise Unavailable("documents are being hidden all the time", retry_after=2.0)


async def _retrieve_in_mode(
    question: Question, partitions: Partitions, deps: RetrievalDependencies
) -> RetrievalResult:
    question = replace(question, query=search_text(question))
    if question.mode != "auto":
        return await _retrieve(question, partitions, deps)
    walking = replace(question, mode="walk")
    async with search_slot(partitions, deps) as own_deps:
        walk_result = await _search(walking, question.keywords, partitions, own_deps)
        mode, reason = choose_mode(walk_result.info)
        if mode == "walk":
            result = await _select_passages(walking, walk_result, partitions, own_deps)
            return replace(
                result, keywords=question.keywords, info={**result.info, "mode_reason": reason}
            )
    result = await _retrieve(replace(question, mode=mode), partitions, deps, walk_result)
    return replace(result, info={**result.info, "mode_reason": reason})


async def _retrieve(
    question: Question,
    partitions: Partitions,
    deps: RetrievalDependencies,
    walk_result: SearchResult | None = None,
) -> RetrievalResult:
    """Return what the mode of the question finds, with the chunks of a walk if there was one."""
    keywords = await _keywords(question, partitions, deps)
    async with search_slot(partitions, deps) as deps:
        search_result = await _search(question, keywords, partitions, deps)
        if walk_result:
            search_result = with_walked(search_result, walk_result)
        result = await _select_passages(question, search_result, partitions, deps)
    note = {"keywords_note": keywords.note} if keywords.note else {}
    return replace(result, keywords=keywords, info={**result.info, **note})


@asynccontextmanager
async def search_slot(partitions: Partitions, deps: D) -> AsyncGenerator[D]:
    """Wait for one of the slots of the process; yield dependencies that search the partitions'
    generation.
    """
    async with (
        deps.concurrency.acquire(partitions.status.workspace),
        deps.for_generation(partitions.vectors.generation) as of_generation,
    ):
        yield of_generation


async def _search(
    question: Question, keywords: Keywords, partitions: Partitions, deps: RetrievalDependencies
) -> SearchResult:
    """Return what the stages of the mode find."""
    documents = await documents_in_scope(question, partitions, deps)
    stages = walk if question.mode == "walk" else search_by_mode
    with deps.measure("retrieve", question.mode):
        return await stages(question, keywords, partitions, deps, documents)


async def _keywords(
    question: Question, partitions: Partitions, deps: RetrievalDependencies
) -> Keywords:
    """Return the keywords to search by."""
    if question.mode not in WITHOUT_KEYWORDS:
        deps.on_progress("extracting_keywords")
    if question.mode in WITHOUT_KEYWORDS or question.keywords:
        return question.keywords
    with deps.measure("keywords", question.mode):
        extracted_keywords = await deps.keyword_extractor.extract(
            partitions.status.workspace, question.query
        )
    return search_keywords(question, extracted_keywords)


async def _select_passages(
    question: Question,
    search_result: SearchResult,
    partitions: Partitions,
    deps: RetrievalDependencies,
) -> RetrievalResult:
    """Read the passages, rerank them, and drop those that exceed the tokens left by the rest of the
    prompt.
    """
    # A reranker judges all of them; without one only the first are used.
    max_passages = (
        len(search_result.chunk_ids) if question.rerank and deps.reranker else question.chunk_top_k
    )
    with deps.measure("gather", question.mode):
        distinct = await _read_passages(search_result.chunk_ids, max_passages, partitions, deps)
    reranked = await _rerank(question, distinct.passages, deps)
    in_force = await in_force_first(question, reranked, partitions, deps)
    budget = (
        question.max_total_tokens - search_result.tokens - frame_tokens(question, deps.count_tokens)
    )
    selection = fit_budget(
        in_force.passages[: question.chunk_top_k],
        budget,
        partial(count_passage, deps.count_tokens),
    )
    ids = assign_reference_ids([passage.file_path for passage in selection])
    return RetrievalResult(
        search_result.entities,
        search_result.relations,
        [(ids.get(passage.file_path, ""), passage) for passage in selection],
        ids,
        doubles={
            passage.id: distinct.doubles[passage.id]
            for passage in selection
            if passage.id in distinct.doubles
        },
        standings=in_force.standings,
        info={"mode": question.mode, **search_result.info, "final_chunks_count": len(selection)},
    ).with_precedences(in_force.precedences)


async def _read_passages(
    ids: Sequence[str], max_passages: int, partitions: Partitions, deps: RetrievalDependencies
) -> DistinctPassages:
    """Return the first `max_passages` passages that exist and say something else than those before,
    in this order.
    """
    passages: list[Passage] = []
    distinct = distinct_passages(())
    for start in range(0, len(ids), max(1, max_passages)):
        batch = ids[start : start + max_passages]
        by_id = await deps.passages.get(partitions.status, batch)
        passages += [by_id[id] for id in batch if id in by_id]
        distinct = distinct_passages(passages)
        if len(distinct.passages) >= max_passages:
            break
    return distinct._replace(passages=distinct.passages[:max_passages])


async def _rerank(
    question: Question, passages: Sequence[Passage], deps: RetrievalDependencies
) -> Sequence[Passage]:
    """Return passages in the reranker's order, without those below the minimum score; unchanged
    without a reranker.
    """
    if question.rerank and passages:
        deps.on_progress("reranking")
    if not (question.rerank and deps.reranker and passages):
        return passages
    with deps.measure("rerank", question.mode):
        scored_passages = await deps.reranker.rerank(question.query, passages, question.chunk_top_k)
    return [
        passage
        for passage, score in scored_passages
        if score is None or score >= deps.min_rerank_score
    ]


def frame_tokens(question: Question, count: Callable[[str], int]) -> int:
    """Return the number of tokens of a prompt without what was found: instructions, question, list
    of references.
    """
    instructions = count_frame(count, answer_prompt(question, "").system)
    return instructions + count_frame(count, question.query) + REFERENCES_RESERVE
