"""Restriction of a question to the documents in its scope."""

from collections.abc import Sequence
from typing import TypeVar

from contracts.graph import Entity, Relation
from services.query.partitions import Partitions
from services.query.question import Question
from services.query.retrieval.dependencies import RetrievalDependencies

DocumentIds = frozenset[str] | None
"""Ids of the documents a question is about; None: all."""

T = TypeVar("T", Entity, Relation)


async def documents_in_scope(
    question: Question, partitions: Partitions, deps: RetrievalDependencies
) -> DocumentIds:
    """Return the ids of the documents in the question's scope that its viewer sees; None for
    all.
    """
    visible_ids = question.visible.restriction if question.visible else None
    if not question.scope:
        return visible_ids
    in_scope = frozenset(await deps.documents.in_scope(partitions.status, question.scope))
    return in_scope if visible_ids is None else in_scope & visible_ids


async def restrict_to_documents(
    items: Sequence[T], documents: DocumentIds, partitions: Partitions, deps: RetrievalDependencies
) -> Sequence[T]:
    """See `RestrictedItems.restrict`; unchanged for None."""
    if documents is None:
        return items
    return await deps.restricted_items.restrict(items, documents, partitions.graph, deps.provenance)
