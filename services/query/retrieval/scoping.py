"""Questions about some of the documents: which these are, and what they alone say of what was found."""

import asyncio
from collections.abc import Sequence
from typing import TypeVar

from contracts.graph import Entity, Relation
from services.query.question import Question
from services.query.retrieval.dependencies import RetrievalDependencies
from services.query.retrieval.provenance import restricted
from services.query.spaces import Spaces

DocumentIds = frozenset[str] | None
"""Those a question is about; None: all."""

T = TypeVar("T", Entity, Relation)

MAX_PROVENANCE = 200
"""Passages of these documents that are read of one entity or relation."""


async def documents_in_scope(question: Question, spaces: Spaces, deps: RetrievalDependencies) -> DocumentIds:
    """The documents the question is about; None when it is about all of them."""
    return frozenset(await deps.documents.in_scope(spaces.status, question.scope)) if question.scope else None


async def restrict_to_documents(
    things: Sequence[T], documents: DocumentIds, spaces: Spaces, deps: RetrievalDependencies
) -> Sequence[T]:
    """The things as these documents alone speak of them, without those of which they do not."""
    if documents is None:
        return things

    async def said(thing: T) -> T | None:
        names = (thing.name,) if isinstance(thing, Entity) else thing.key
        return restricted(thing, await deps.provenance.of(spaces.graph, names, limit=MAX_PROVENANCE, among=documents))

    return [thing for thing in await asyncio.gather(*map(said, things)) if thing]
