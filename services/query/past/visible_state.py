"""A past as those see it from whom some of its documents are hidden."""

from collections.abc import Collection
from dataclasses import replace
from typing import TypeVar

from contracts.graph import Entity, Provenance, Relation
from knowledge.contributions import Key
from services.query.past.provenance import provenance_of
from services.query.past.state import PastState
from services.query.visibility.listed_sources import listed_sources
from services.query.visibility.restriction import (
    MAX_PROVENANCE,
    is_visible_name,
    restricted,
    unspoken_names,
)

T = TypeVar("T", Entity, Relation)


def visible_state(state: PastState, ids: Collection[str]) -> PastState:
    """Return the state as these documents alone make it: entities and relations as `restrict`
    returns them.
    """
    contributions = {
        key: [contribution for contribution in all_of_key if contribution.document_id in ids]
        for key, all_of_key in state.contributions.items()
    }
    visible = replace(
        state,
        documents={id: record for id, record in state.documents.items() if id in ids},
        contributions={key: of_key for key, of_key in contributions.items() if of_key},
    )
    entities = [
        visible_item(state, (name,), entity, ids) for name, entity in state.entities.items()
    ]
    relations = [
        visible_item(state, key, relation, ids) for key, relation in state.relations.items()
    ]
    return replace(
        visible,
        entities={entity.name: entity for entity in entities if entity},
        relations={relation.key: relation for relation in relations if relation},
    )


def visible_item(state: PastState, key: Key, item: T, ids: Collection[str]) -> T | None:
    """Return an entity or a relation as these documents describe it; None where none does."""
    contributions = [
        contribution for contribution in _provenance(state, key) if contribution.document_id in ids
    ]
    if not listed_sources(item, ids).is_wholly_visible:
        return restricted(item, contributions[:MAX_PROVENANCE])
    ends = unspoken_names(item, contributions) if isinstance(item, Relation) else ()
    has_visible_ends = all(is_visible_name(name, _provenance(state, (name,)), ids) for name in ends)
    return item if has_visible_ends else None


def _provenance(state: PastState, key: Key) -> list[Provenance]:
    return [provenance_of(contribution) for contribution in state.contributions.get(key, ())]
