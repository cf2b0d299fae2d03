"""What several searches found, put together under the budgets of the question."""

from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import TypeVar

from services.query.context.layout import (
    build_context,
    count_context_tokens,
    count_passage,
    entity_line,
    passage_line,
    relation_line,
)
from services.query.context.reference_ids import assign_reference_ids
from services.query.passage import Passage
from services.query.question import Question
from services.query.retrieval.doubles import distinct_passages
from services.query.retrieval.fusion import reciprocal_rank_fusion
from services.query.retrieval.in_force import preferred_first
from services.query.retrieval.results import RetrievalResult
from services.query.retrieval.retrieve import frame_tokens
from services.query.retrieval.token_budget import fit_budget
from services.query.standing import Precedence, Standing

Count = Callable[[str], int]
Key = TypeVar("Key", bound=Hashable)
Item = TypeVar("Item")


def combine(
    results: Sequence[RetrievalResult], question: Question, count: Count
) -> RetrievalResult:
    """Return the best of all results by reciprocal rank fusion, no more of it than one result may
    have; of the passages those in force before those that they supersede, as in each result.

    Keywords and counts are those of the first result, that of the question itself.
    """
    entities = fit_budget(
        _best_first(results, lambda result: {entity.name: entity for entity in result.entities}),
        question.max_entity_tokens,
        lambda entity: count(entity_line(entity)),
    )
    relations = fit_budget(
        _best_first(
            results, lambda result: {relation.key: relation for relation in result.relations}
        ),
        question.max_relation_tokens,
        lambda relation: count(relation_line(relation)),
    )
    passages = _best_first(
        results, lambda result: {passage.id: passage for _, passage in result.passages}
    )
    doubles = {id: twins for result in reversed(results) for id, twins in result.doubles.items()}
    frame = frame_tokens(question, count)
    budget = question.max_total_tokens - frame - count_context_tokens(entities, relations, count)
    # Two searches may have chosen different ones of those that say the same.
    distinct = distinct_passages(
        twin for passage in passages for twin in (passage, *doubles.get(passage.id, ()))
    )
    ordered = _preferred_first(distinct.passages, results)
    chosen_passages = fit_budget(
        ordered[: question.chunk_top_k], budget, partial(count_passage, count)
    )
    ids = assign_reference_ids([passage.file_path for passage in chosen_passages])
    return replace(
        results[0],
        entities=entities,
        relations=relations,
        passages=[(ids.get(passage.file_path, ""), passage) for passage in chosen_passages],
        references=ids,
        doubles={
            passage.id: distinct.doubles[passage.id]
            for passage in chosen_passages
            if passage.id in distinct.doubles
        },
        standings=_standings(results),
        info={**results[0].info, "final_chunks_count": len(chosen_passages)},
    ).with_precedences(_precedences(results))


def _standings(results: Sequence[RetrievalResult]) -> dict[str, Standing]:
    return {id: item for result in results for id, item in result.standings.items()}


def _precedences(results: Sequence[RetrievalResult]) -> list[Precedence]:
    return [item for result in results for item in result.precedences]


def _preferred_first(
    passages: Sequence[Passage], results: Sequence[RetrievalResult]
) -> list[Passage]:
    """Return the passages as each result orders its own: the fusion of their ranks knows nothing of
    what is in force.
    """
    ids = {passage.id for passage in passages}
    among_passages = [item for item in _precedences(results) if item.passages <= ids]
    return preferred_first(passages, _standings(results), among_passages)


def _best_first(
    results: Sequence[RetrievalResult], items: Callable[[RetrievalResult], Mapping[Key, Item]]
) -> list[Item]:
    """Return what the results have, each once as the first of them has it, by reciprocal rank
    fusion.

    `items`: what one result has by what tells it apart, the best first.
    """
    rankings = [items(result) for result in results]
    by_key = {key: item for ranking in reversed(rankings) for key, item in ranking.items()}
    order = reciprocal_rank_fusion(*((list(ranking), 1.0) for ranking in rankings))
    return [by_key[key] for key in order]


def token_use(
    retrieval: RetrievalResult, question: Question, count: Count
) -> dict[str, dict[str, int]]:
    """Return the tokens of entities, relations and passages in the context of an answer, each with
    its limit.

    That of `total` also holds the frame around them and the question.
    """
    entities = count_context_tokens(retrieval.entities, (), count)
    relations = count_context_tokens((), retrieval.relations, count)
    passages = sum(count_passage(count, passage) for _, passage in retrieval.passages)
    frame = frame_tokens(question, count)
    return {
        "entities": {"used": entities, "limit": question.max_entity_tokens},
        "relations": {"used": relations, "limit": question.max_relation_tokens},
        "passages": {
            "used": passages,
            "limit": max(0, question.max_total_tokens - frame - entities - relations),
        },
        "total": {
            "used": entities + relations + passages + frame,
            "limit": question.max_total_tokens,
        },
    }


def excerpts(retrieval: RetrievalResult, budget: int, count: Count) -> str:
    """Return the context of what was found as far as it fits the budget of tokens, the passages
    first.
    """
    passages = fit_budget(retrieval.passages, budget, lambda entry: count(passage_line(*entry)))
    tokens_left = budget - sum(count(passage_line(*entry)) for entry in passages)
    relations = fit_budget(
        retrieval.relations, tokens_left, lambda relation: count(relation_line(relation))
    )
    return build_context((), relations, passages, {}) if passages or relations else ""
