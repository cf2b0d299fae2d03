"""From a question to what its answer rests on: keywords, the stages of its mode, passages, reranking, the budget."""

import asyncio
from collections.abc import Sequence
from dataclasses import replace

from services.query.context.layout import passage_line
from services.query.context.prompt import answer_prompt
from services.query.context.reference_ids import references
from services.query.passage import Passage
from services.query.question import Keywords, Question, searched
from services.query.retrieval.dependencies import RetrievalDependencies
from services.query.retrieval.gather import gather
from services.query.retrieval.linking import linked
from services.query.retrieval.mode_selection import chosen
from services.query.retrieval.multihop.walk import walk
from services.query.retrieval.ranking import within
from services.query.retrieval.results import Found, Gathered
from services.query.retrieval.scoping import admitted
from services.query.spaces import Spaces

WITHOUT_KEYWORDS = {"naive", "walk"}

RESERVE = 200
"""Tokens that are kept free for the list of references."""


async def retrieve(question: Question, spaces: Spaces, library: RetrievalDependencies) -> Found:
    """What the documents hold about the question, in the question's mode. Raises `Unavailable`."""
    if question.mode == "bypass":
        return Found()
    question = await _decided(question, spaces, library)
    keywords = await _keywords(question, spaces, library)
    if keywords is None:
        return Found()
    async with library.turns.taken(spaces.status.workspace), library.searching(spaces.vectors.generation) as library:
        documents = await admitted(question, spaces, library)
        stages = walk if question.mode == "walk" else gather
        gathered = await stages(question, keywords, spaces, library, documents)
        found = await _read(question, gathered, spaces, library)
    return replace(found, keywords=keywords)


async def _decided(question: Question, spaces: Spaces, library: RetrievalDependencies) -> Question:
    """The question in a mode, where it leaves the choice to us."""
    if question.mode != "auto":
        return question
    links = await asyncio.to_thread(linked, question.query, await library.names.of(spaces))
    return replace(question, mode=chosen(question.query, links))


async def _keywords(question: Question, spaces: Spaces, library: RetrievalDependencies) -> Keywords | None:
    """What to search by; None when a long question is about nothing."""
    if question.mode not in WITHOUT_KEYWORDS:
        library.tell("extracting_keywords")
    if question.mode in WITHOUT_KEYWORDS or question.keywords:
        return question.keywords
    return searched(question.query, await library.keywords.of(spaces.status.workspace, question.query))


async def _read(question: Question, gathered: Gathered, spaces: Spaces, library: RetrievalDependencies) -> Found:
    """The passages, reranked and cut to what room the rest of the prompt leaves."""
    known = await library.passages.get(spaces.status, gathered.chunk_ids)
    passages = await _reranked(question, [known[id] for id in gathered.chunk_ids if id in known], library)
    room = question.max_total_tokens - _used(question, gathered, library) - RESERVE
    kept = within(passages[: question.chunk_top_k], room, lambda passage: library.count(passage_line("1", passage)))
    ids = references([passage.file_path for passage in kept])
    return Found(
        gathered.entities,
        gathered.relations,
        [(ids.get(passage.file_path, ""), passage) for passage in kept],
        ids,
        info={"mode": question.mode, **gathered.info, "final_chunks_count": len(kept)},
    )


async def _reranked(
    question: Question, passages: Sequence[Passage], library: RetrievalDependencies
) -> Sequence[Passage]:
    """By the reranker's scores, without those below the least one; as they come where there is none."""
    if question.rerank and passages:
        library.tell("reranking")
    if not (question.rerank and library.reranker and passages):
        return passages
    scored = await library.reranker.rerank(question.query, passages, question.chunk_top_k)
    return [passage for passage, score in scored if score is None or score >= library.min_rerank_score]


def _used(question: Question, gathered: Gathered, library: RetrievalDependencies) -> int:
    """Tokens of the prompt without its passages."""
    return gathered.tokens + library.count(answer_prompt(question, "").system) + library.count(question.query)
