"""What a walk returns beside its chunks: entities and relations on the paths, and how it went."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from itertools import pairwise
from typing import Any

from contracts.graph import Entity, Relation
from contracts.ids import pair
from runtime.stores.graph.port import Neighbourhood
from services.query.context.layout import count_entity, count_relation
from services.query.partitions import Partitions
from services.query.question import Question
from services.query.retrieval.dependencies import RetrievalDependencies
from services.query.retrieval.linking import Link
from services.query.retrieval.multihop.neighbourhood import MAX_RELATIONS
from services.query.retrieval.scoping import DocumentIds, restrict_to_documents
from services.query.retrieval.token_budget import fit_budget

MAX_SHOWN = 20
"""Hubs that were read in part, that the processing info lists at most."""


@dataclass(frozen=True, slots=True)
class Trail:
    """A path as it is shown: the entities and the passages that it leads through."""

    entities: tuple[str, ...]
    chunk_ids: tuple[str, ...]


async def graph_context(
    question: Question,
    linked: Sequence[str],
    trails: Sequence[Trail],
    partitions: Partitions,
    deps: RetrievalDependencies,
    documents: DocumentIds,
) -> tuple[list[Entity], list[Relation]]:
    """Return the linked entities and those on the trails, with relations, cut to the question's
    token budgets.
    """
    names = list(linked)
    pairs: list[tuple[str, str]] = []
    for trail in trails:
        names += trail.entities
        pairs += [pair(source, target) for source, target in pairwise(trail.entities)]
    names = list(dict.fromkeys(names))[: question.top_k]
    pairs = list(dict.fromkeys(pairs))[: question.top_k]
    entities, relations = await asyncio.gather(
        deps.graph_reader.entities(partitions.graph, names),
        deps.graph_reader.relations(partitions.graph, pairs),
    )
    restrict = partial(restrict_to_documents, documents=documents, partitions=partitions, deps=deps)
    count = deps.count_tokens
    return (
        fit_budget(
            await restrict([entities[name] for name in names if name in entities]),
            question.max_entity_tokens,
            partial(count_entity, count),
        ),
        fit_budget(
            await restrict([relations[key] for key in pairs if key in relations]),
            question.max_relation_tokens,
            partial(count_relation, count),
        ),
    )


def processing_info(
    links: Sequence[Link],
    trails: Sequence[Trail],
    around: Neighbourhood,
    entities: Sequence[Entity],
    relations: Sequence[Relation],
    documents: DocumentIds,
) -> dict[str, Any]:
    """Return how a walk went. With `documents` no entities are named but those returned: people may
    have given others the names of what other documents say.
    """
    named = None if documents is None else {entity.name for entity in entities}
    not_read = {
        name: degree - MAX_RELATIONS
        for name, degree in around.degrees.items()
        if degree > MAX_RELATIONS and (named is None or name in named)
    }
    most_not_read = sorted(not_read.items(), key=lambda item: -item[1])[:MAX_SHOWN]
    entities_on_trails: set[str] = set()
    chunks_on_trails: set[str] = set()
    for trail in trails:
        entities_on_trails.update(trail.entities)
        chunks_on_trails.update(trail.chunk_ids)
    return {
        "total_entities_found": len(entities_on_trails | around.nodes.keys()),
        "total_relations_found": len(around.relation_summaries),
        "entities_after_truncation": len(entities),
        "relations_after_truncation": len(relations),
        "merged_chunks_count": len(chunks_on_trails),
        "linked": [
            {"said": link.text, "entities": names, "by": link.method}
            for link in links
            if (names := [name for name in link.names if named is None or name in named])
        ],
        "paths": [
            {"entities": list(trail.entities), "chunks": list(trail.chunk_ids)}
            for trail in trails
            if named is None or named.issuperset(trail.entities)
        ],
        "relations_not_read": dict(most_not_read),
    }
