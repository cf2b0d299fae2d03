"""Retrieval for a question: keywords, the stages of its mode, passages, reranking and the token budget."""

import asyncio
from collections.abc import Sequence
from dataclasses import replace

from services.query.context.layout import passage_line
from services.query.context.prompt import answer_prompt
from services.query.context.reference_ids import assign_reference_ids
from services.query.partitions import Partitions
from services.query.passage import Passage
from services.query.question import Keywords, Question, search_keywords
from services.query.retrieval.dependencies import RetrievalDependencies
from services.query.retrieval.linking import link_entities
from services.query.retrieval.mode_selection import choose_mode
from services.query.retrieval.modes import search_by_mode
from services.query.retrieval.multihop.walk import walk
from services.query.retrieval.results import RetrievalResult, SearchResult
from services.query.retrieval.scoping import documents_in_scope
from services.query.retrieval.token_budget import fit_budget

WITHOUT_KEYWORDS = {"naive", "walk"}
"""Modes that extract no keywords."""

REFERENCES_RESERVE = 200
"""Tokens reserved for the list of references."""


async def retrieve(question: Question, partitions: Partitions, deps: RetrievalDependencies) -> RetrievalResult:
    """Return entities, relations and passages for the question in its mode. Raises `Unavailable`."""
    if question.mode == "bypass":
        return RetrievalResult()
    question, reason = await _with_mode(question, partitions, deps)
    keywords = await _keywords(question, partitions, deps)
    async with (
        deps.concurrency.acquire(partitions.status.workspace),
        deps.for_generation(partitions.vectors.generation) as deps,
    ):
        documents = await documents_in_scope(question, partitions, deps)
        stages = walk if question.mode == "walk" else search_by_mode
        search_result = await stages(question, keywords, partitions, deps, documents)
        result = await _select_passages(question, search_result, partitions, deps)
    info = {**result.info, "mode_reason": reason} if reason else result.info
    return replace(result, keywords=keywords, info=info)


async def _with_mode(question: Question, partitions: Partitions, deps: RetrievalDependencies) -> tuple[Question, str]:
    """Return the question with mode `auto` replaced by another one, and why; "" for other modes."""
    if question.mode != "auto":
        return question, ""
    links = await asyncio.to_thread(link_entities, question.query, await deps.entity_names.of(partitions))
    mode, reason = choose_mode(links)
    return replace(question, mode=mode), reason


async def _keywords(question: Question, partitions: Partitions, deps: RetrievalDependencies) -> Keywords:
    """Return the keywords to search by."""
    if question.mode not in WITHOUT_KEYWORDS:
        deps.on_progress("extracting_keywords")
    if question.mode in WITHOUT_KEYWORDS or question.keywords:
        return question.keywords
    found = await deps.keyword_extractor.extract(partitions.status.workspace, question.query)
    return search_keywords(question, found)


async def _select_passages(
    question: Question, search_result: SearchResult, partitions: Partitions, deps: RetrievalDependencies
) -> RetrievalResult:
    """Read the passages, rerank them, and drop those that exceed the tokens left by the rest of the prompt."""
    # A reranker judges all of them; without one only the first are used.
    most = len(search_result.chunk_ids) if question.rerank and deps.reranker else question.chunk_top_k
    passages = await _rerank(question, await _read_passages(search_result.chunk_ids, most, partitions, deps), deps)
    budget = question.max_total_tokens - _tokens_without_passages(question, search_result, deps) - REFERENCES_RESERVE
    selection = fit_budget(
        passages[: question.chunk_top_k], budget, lambda passage: deps.count_tokens(passage_line("1", passage))
    )
    ids = assign_reference_ids([passage.file_path for passage in selection])
    return RetrievalResult(
        search_result.entities,
        search_result.relations,
        [(ids.get(passage.file_path, ""), passage) for passage in selection],
        ids,
        info={"mode": question.mode, **search_result.info, "final_chunks_count": len(selection)},
    )


async def _read_passages(
    ids: Sequence[str], most: int, partitions: Partitions, deps: RetrievalDependencies
) -> list[Passage]:
    """Return the first `most` passages that exist, in this order."""
    passages: list[Passage] = []
    for start in range(0, len(ids), max(1, most)):
        batch = ids[start : start + most]
        by_id = await deps.passages.get(partitions.status, batch)
        passages += [by_id[id] for id in batch if id in by_id]
        if len(passages) >= most:
            break
    return passages[:most]


async def _rerank(question: Question, passages: Sequence[Passage], deps: RetrievalDependencies) -> Sequence[Passage]:
    """Return passages in the reranker's order, without those below the minimum score; unchanged without a reranker."""
    if question.rerank and passages:
        deps.on_progress("reranking")
    if not (question.rerank and deps.reranker and passages):
        return passages
    scored = await deps.reranker.rerank(question.query, passages, question.chunk_top_k)
    return [passage for passage, score in scored if score is None or score >= deps.min_rerank_score]


def _tokens_without_passages(question: Question, search_result: SearchResult, deps: RetrievalDependencies) -> int:
    """Return the number of tokens of the prompt without its passages."""
    return (
        search_result.tokens + deps.count_tokens(answer_prompt(question, "").system) + deps.count_tokens(question.query)
    )
