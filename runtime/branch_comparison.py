"""Compares the graph of a branch with that of its origin: what appeared, went and changed."""

from collections.abc import AsyncGenerator, Mapping
from dataclasses import asdict, dataclass
from typing import Any

from contracts.graph import Entity, Partition, Relation
from contracts.ids import chunk_place, sha256
from runtime.branches import Branch
from runtime.stores.graph.port import Graph

PAGE = 1000


@dataclass(frozen=True)
class Difference:
    """How one kind of things differs: names of what only the branch has, of what only the origin
    has, and of what both say otherwise; `same_count` of what is alike.
    """

    appeared: tuple[str, ...]
    went: tuple[str, ...]
    changed: tuple[str, ...]
    same_count: int

    def as_json(self, limit: int) -> dict[str, Any]:
        """Return counts, and at most `limit` names of each kind."""
        names = asdict(self)
        same_count = names.pop("same_count")
        counts = {name: len(values) for name, values in names.items()}
        shown_names = {f"{name}_names": values[:limit] for name, values in names.items()}
        return {**counts, "same": same_count, **shown_names}


async def compare_graphs(
    graph: Graph, branch: Branch, generation: int
) -> tuple[Difference, Difference]:
    """Return how entities and relations differ. Of a sample only what documents in it say is
    compared, by type: descriptions of the origin know more documents. Raises `Unavailable`.
    """
    partitions = [
        Partition(workspace, generation) for workspace in (branch.origin, branch.workspace)
    ]
    is_sample = bool(branch.event.sampled_up_to)

    def entity_state(entity: Entity) -> str:
        return entity.type if is_sample else sha256(f"{entity.type}\x1f{entity.description}")

    def relation_state(relation: Relation) -> str:
        keywords = ",".join(sorted(relation.keywords))
        return "" if is_sample else sha256(f"{keywords}\x1f{relation.description}")

    entities = [
        {
            entity.name: entity_state(entity)
            async for entity in _entities(graph, partition)
            if _is_said_by(branch, entity.source_ids)
        }
        for partition in partitions
    ]
    relations = [
        {
            f"{relation.source} – {relation.target}": relation_state(relation)
            async for relation in _relations(graph, partition)
            if _is_said_by(branch, relation.source_ids)
        }
        for partition in partitions
    ]
    return _difference(*entities), _difference(*relations)


def _is_said_by(branch: Branch, chunk_ids: tuple[str, ...]) -> bool:
    """Return whether a document of the branch is among those that say it."""
    if not branch.event.sampled_up_to:
        return True
    places = (chunk_place(id) for id in chunk_ids)
    return any(branch.takes(place[0]) for place in places if place)


def _difference(origin: Mapping[str, str], branch: Mapping[str, str]) -> Difference:
    in_both = origin.keys() & branch.keys()
    changed_names = [name for name in in_both if origin[name] != branch[name]]
    return Difference(
        tuple(sorted(branch.keys() - origin.keys())),
        tuple(sorted(origin.keys() - branch.keys())),
        tuple(sorted(changed_names)),
        len(in_both) - len(changed_names),
    )


async def _entities(graph: Graph, partition: Partition) -> AsyncGenerator[Entity]:
    name = ""
    while page := await graph.scan_entities(partition, name, PAGE):
        for entity in page:
            yield entity
        name = page[-1].name


async def _relations(graph: Graph, partition: Partition) -> AsyncGenerator[Relation]:
    key = ("", "")
    while page := await graph.scan_relations(partition, key, PAGE):
        for relation in page:
            yield relation
        key = page[-1].key
