"""From a question to what its answer rests on: keywords, the stages of its mode, passages, reranking, the budget."""

import asyncio
from collections.abc import Sequence
from dataclasses import replace

from services.query.context.layout import passage_line
from services.query.context.prompt import answer_prompt
from services.query.context.reference_ids import assign_reference_ids
from services.query.passage import Passage
from services.query.question import Keywords, Question, search_keywords
from services.query.retrieval.dependencies import RetrievalDependencies
from services.query.retrieval.gather import gather
from services.query.retrieval.linking import link_entities
from services.query.retrieval.mode_selection import choose_mode
from services.query.retrieval.multihop.walk import walk
from services.query.retrieval.results import RetrievalResult, SearchResult
from services.query.retrieval.scoping import documents_in_scope
from services.query.retrieval.token_budget import fit_budget
from services.query.spaces import Spaces

WITHOUT_KEYWORDS = {"naive", "walk"}

REFERENCES_RESERVE = 200
"""Tokens that are kept free for the list of references."""


async def retrieve(question: Question, spaces: Spaces, deps: RetrievalDependencies) -> RetrievalResult:
    """What the documents hold about the question, in the question's mode. Raises `Unavailable`."""
    if question.mode == "bypass":
        return RetrievalResult()
    question = await _with_mode(question, spaces, deps)
    keywords = await _keywords(question, spaces, deps)
    if keywords is None:
        return RetrievalResult()
    async with (
        deps.concurrency.acquire(spaces.status.workspace),
        deps.for_generation(spaces.vectors.generation) as deps,
    ):
        documents = await documents_in_scope(question, spaces, deps)
        stages = walk if question.mode == "walk" else gather
        gathered = await stages(question, keywords, spaces, deps, documents)
        found = await _select_passages(question, gathered, spaces, deps)
    return replace(found, keywords=keywords)


async def _with_mode(question: Question, spaces: Spaces, deps: RetrievalDependencies) -> Question:
    """The question in a mode, where it leaves the choice to us."""
    if question.mode != "auto":
        return question
    links = await asyncio.to_thread(link_entities, question.query, await deps.entity_names.of(spaces))
    return replace(question, mode=choose_mode(question.query, links))


async def _keywords(question: Question, spaces: Spaces, deps: RetrievalDependencies) -> Keywords | None:
    """What to search by; None when a long question is about nothing."""
    if question.mode not in WITHOUT_KEYWORDS:
        deps.on_progress("extracting_keywords")
    if question.mode in WITHOUT_KEYWORDS or question.keywords:
        return question.keywords
    return search_keywords(
        question.query, await deps.keyword_extractor.extract(spaces.status.workspace, question.query)
    )


async def _select_passages(
    question: Question, gathered: SearchResult, spaces: Spaces, deps: RetrievalDependencies
) -> RetrievalResult:
    """The passages, reranked and cut to what room the rest of the prompt leaves."""
    known = await deps.passages.get(spaces.status, gathered.chunk_ids)
    passages = await _rerank(question, [known[id] for id in gathered.chunk_ids if id in known], deps)
    room = question.max_total_tokens - _tokens_without_passages(question, gathered, deps) - REFERENCES_RESERVE
    kept = fit_budget(
        passages[: question.chunk_top_k], room, lambda passage: deps.count_tokens(passage_line("1", passage))
    )
    ids = assign_reference_ids([passage.file_path for passage in kept])
    return RetrievalResult(
        gathered.entities,
        gathered.relations,
        [(ids.get(passage.file_path, ""), passage) for passage in kept],
        ids,
        info={"mode": question.mode, **gathered.info, "final_chunks_count": len(kept)},
    )


async def _rerank(question: Question, passages: Sequence[Passage], deps: RetrievalDependencies) -> Sequence[Passage]:
    """By the reranker's scores, without those below the least one; as they come where there is none."""
    if question.rerank and passages:
        deps.on_progress("reranking")
    if not (question.rerank and deps.reranker and passages):
        return passages
    scored = await deps.reranker.rerank(question.query, passages, question.chunk_top_k)
    return [passage for passage, score in scored if score is None or score >= deps.min_rerank_score]


def _tokens_without_passages(question: Question, gathered: SearchResult, deps: RetrievalDependencies) -> int:
    """Tokens of the prompt without its passages."""
    return gathered.tokens + deps.count_tokens(answer_prompt(question, "").system) + deps.count_tokens(question.query)
