"""Questions about some of the documents: which these are, and what they alone say of what was found."""

import asyncio
from collections.abc import Sequence
from typing import TypeVar

from contracts.graph import Entity, Relation
from services.query.question import Question
from services.query.retrieval.dependencies import RetrievalDependencies
from services.query.retrieval.provenance import held
from services.query.spaces import Spaces

Documents = frozenset[str] | None
"""Those a question is about; None: all."""

T = TypeVar("T", Entity, Relation)

MOST_SUPPORTS = 200
"""Passages of these documents that are read of one entity or relation."""


async def admitted(question: Question, spaces: Spaces, deps: RetrievalDependencies) -> Documents:
    """The documents the question is about; None when it is about all of them."""
    return frozenset(await deps.documents.within(spaces.status, question.scope)) if question.scope else None


async def held_to(
    things: Sequence[T], documents: Documents, spaces: Spaces, deps: RetrievalDependencies
) -> Sequence[T]:
    """The things as these documents alone speak of them, without those of which they do not."""
    if documents is None:
        return things

    async def said(thing: T) -> T | None:
        names = (thing.name,) if isinstance(thing, Entity) else thing.key
        return held(thing, await deps.provenance.of(spaces.graph, names, limit=MOST_SUPPORTS, among=documents))

    return [thing for thing in await asyncio.gather(*map(said, things)) if thing]
