"""Restriction of a question to the documents in its scope."""

import asyncio
from collections.abc import Sequence
from typing import TypeVar

from contracts.graph import Entity, Relation
from services.query.partitions import Partitions
from services.query.question import Question
from services.query.retrieval.dependencies import RetrievalDependencies
from services.query.retrieval.provenance import restricted

DocumentIds = frozenset[str] | None
"""Ids of the documents a question is about; None: all."""

T = TypeVar("T", Entity, Relation)

MAX_PROVENANCE = 200
"""Contributions of these documents that are read per entity or relation."""


async def documents_in_scope(
    question: Question, partitions: Partitions, deps: RetrievalDependencies
) -> DocumentIds:
    """Return the ids of the documents in the question's scope; None for an empty scope, which means
    all.
    """
    return (
        frozenset(await deps.documents.in_scope(partitions.status, question.scope))
        if question.scope
        else None
    )


async def restrict_to_documents(
    items: Sequence[T], documents: DocumentIds, partitions: Partitions, deps: RetrievalDependencies
) -> Sequence[T]:
    """Return the entities or relations as these documents alone describe them; others are left
    out.
    """
    if documents is None:
        return items

    async def restrict(item: T) -> T | None:
        names = (item.name,) if isinstance(item, Entity) else item.key
        return restricted(
            item,
            await deps.provenance.of(
                partitions.graph, names, limit=MAX_PROVENANCE, among=documents
            ),
        )

    return [item for item in await asyncio.gather(*map(restrict, items)) if item]
