"""What a walk returns beside its chunks: entities and relations on the paths, and how it went."""

import asyncio
from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

from contracts.graph import Entity, Relation
from contracts.ids import pair
from services.query.context.layout import entity_line, relation_line
from services.query.retrieval.multihop.paths import Path
from services.query.retrieval.multihop.subgraph import Subgraph
from services.query.retrieval.multihop.walk_state import MAX_RELATIONS, WalkState
from services.query.retrieval.scoping import restrict_to_documents
from services.query.retrieval.token_budget import fit_budget

MAX_SHOWN = 20
"""Paths, and hubs that were read in part, that the processing info lists at most."""


async def graph_context(
    state: WalkState, starts: Mapping[str, float], found: Sequence[Path]
) -> tuple[list[Entity], list[Relation]]:
    """Return the entities and relations on these paths, cut to the question's token budgets."""
    question, count, partition = state.question, state.deps.count_tokens, state.partitions.graph
    names = list(dict.fromkeys([*starts, *(name for path in found for name in path.entities)]))[: question.top_k]
    steps = [pair(*step) for path in found for step in zip(path.entities, path.entities[1:], strict=False)]
    pairs = list(dict.fromkeys(steps))[: question.top_k]
    entities, relations = await asyncio.gather(
        state.deps.graph_reader.entities(partition, names), state.deps.graph_reader.relations(partition, pairs)
    )
    held = partial(restrict_to_documents, documents=state.document_ids, partitions=state.partitions, deps=state.deps)
    return (
        fit_budget(
            await held([entities[name] for name in names if name in entities]),
            question.max_entity_tokens,
            lambda entity: count(entity_line(entity)),
        ),
        fit_budget(
            await held([relations[key] for key in pairs if key in relations]),
            question.max_relation_tokens,
            lambda relation: count(relation_line(relation)),
        ),
    )


def processing_info(
    state: WalkState,
    subgraph: Subgraph,
    found: Sequence[Path],
    entities: Sequence[Entity],
    relations: Sequence[Relation],
) -> dict[str, Any]:
    cut = {name: degree - MAX_RELATIONS for name, degree in subgraph.degrees.items() if degree > MAX_RELATIONS}
    links = [link for link in state.links if state.document_ids is None or subgraph.nodes.keys() & {*link.names}]
    return {
        "total_entities_found": len(subgraph.nodes),
        "total_relations_found": len(subgraph.relations),
        "entities_after_truncation": len(entities),
        "relations_after_truncation": len(relations),
        "merged_chunks_count": len(subgraph.passages),
        "linked": [{"said": link.text, "entities": list(link.names), "by": link.method} for link in links],
        "paths": [{"entities": list(path.entities), "chunks": list(path.chunk_ids)} for path in found[:MAX_SHOWN]],
        "relations_not_read": dict(sorted(cut.items(), key=lambda pair: -pair[1])[:MAX_SHOWN]),
    }
