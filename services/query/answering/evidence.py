"""What several searches found, put together under the budgets of the question."""

from collections.abc import Callable, Sequence
from dataclasses import replace

from services.query.context.layout import build_context, count_context_tokens, entity_line, passage_line, relation_line
from services.query.context.prompt import answer_prompt
from services.query.context.reference_ids import assign_reference_ids
from services.query.question import Question
from services.query.retrieval.fusion import reciprocal_rank_fusion
from services.query.retrieval.results import RetrievalResult
from services.query.retrieval.retrieve import REFERENCES_RESERVE
from services.query.retrieval.token_budget import fit_budget

Count = Callable[[str], int]


def combine(results: Sequence[RetrievalResult], question: Question, count: Count) -> RetrievalResult:
    """Return the best of all results by reciprocal rank fusion, no more of it than one result may have.

    Keywords and counts are those of the first result, that of the question itself.
    """
    entities = {each.name: each for found in reversed(results) for each in found.entities}
    relations = {"\x1f".join(each.key): each for found in reversed(results) for each in found.relations}
    passages = {passage.id: passage for found in reversed(results) for _, passage in found.passages}
    by_name = reciprocal_rank_fusion(*(([each.name for each in found.entities], 1.0) for found in results))
    by_pair = reciprocal_rank_fusion(*((["\x1f".join(each.key) for each in found.relations], 1.0) for found in results))
    by_id = reciprocal_rank_fusion(*(([passage.id for _, passage in found.passages], 1.0) for found in results))
    chosen_entities = fit_budget(
        [entities[name] for name in by_name], question.max_entity_tokens, lambda each: count(entity_line(each))
    )
    chosen_relations = fit_budget(
        [relations[pair] for pair in by_pair], question.max_relation_tokens, lambda each: count(relation_line(each))
    )
    frame = count(answer_prompt(question, "").system) + count(question.query) + REFERENCES_RESERVE
    budget = question.max_total_tokens - frame - count_context_tokens(chosen_entities, chosen_relations, count)
    chosen = fit_budget(
        [passages[id] for id in by_id[: question.chunk_top_k]], budget, lambda each: count(passage_line("1", each))
    )
    ids = assign_reference_ids([passage.file_path for passage in chosen])
    return replace(
        results[0],
        entities=chosen_entities,
        relations=chosen_relations,
        passages=[(ids.get(passage.file_path, ""), passage) for passage in chosen],
        references=ids,
        info={**results[0].info, "final_chunks_count": len(chosen)},
    )


def excerpts(found: RetrievalResult, budget: int, count: Count) -> str:
    """Return the context of what was found as far as it fits the budget of tokens, the passages first."""
    passages = fit_budget(found.passages, budget, lambda each: count(passage_line(*each)))
    left = budget - sum(count(passage_line(*each)) for each in passages)
    relations = fit_budget(found.relations, left, lambda each: count(relation_line(each)))
    return build_context((), relations, passages, {}) if passages or relations else ""
