"""What the chunks that an entity or a relation lists tell of who speaks of it.

The list is read with the entity, and a chunk's id has that of its document: nothing more is read to
know whether documents that are seen speak of it.
"""

from collections.abc import Collection
from typing import NamedTuple

from contracts.graph import Entity, Relation
from contracts.ids import chunk_place


class ListedSources(NamedTuple):
    """The chunks that an entity or relation lists in documents which are seen. `hides`: it lists
    others. `is_complete`: it lists all that speak of it.
    """

    visible: tuple[str, ...]
    hides: bool
    is_complete: bool

    @property
    def is_wholly_visible(self) -> bool:
        """Whether documents that are seen alone speak of it."""
        return self.is_complete and not self.hides

    @property
    def is_wholly_hidden(self) -> bool:
        """Whether no document that is seen speaks of it."""
        return self.is_complete and not self.visible


def listed_sources(item: Entity | Relation, documents: Collection[str]) -> ListedSources:
    """Return what an entity or relation lists, for who sees these documents."""
    is_complete = 0 < len(item.source_ids) >= item.support
    visible: list[str] = []
    for chunk in item.source_ids:
        place = chunk_place(chunk)
        if place is None:
            is_complete = False
        elif place[0] in documents:
            visible.append(chunk)
    return ListedSources(tuple(visible), len(visible) < len(item.source_ids), is_complete)
