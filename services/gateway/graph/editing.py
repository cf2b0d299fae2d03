"""Edits the graph for users: checks an edit against the graph, publishes it, and waits until the
graph shows it.
"""

import asyncio
import time
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar

from contracts.events import GraphEdited
from contracts.graph import Entity, Partition, Relation
from contracts.graph_edits import EditedValues, GraphOperation
from contracts.ids import pair
from contracts.names import clean_name
from publishing.graph_edits import edit_graph
from runtime.bus.port import LiveGenerations, Log
from runtime.errors import NotFound
from runtime.stores.graph.port import Graph
from services.query.errors import BadRequest
from services.query.event_source import SOURCE
from services.query.lookup.entity_names import known_name
from services.query.partitions import graph_partition

POLL_INTERVAL = 0.05
"""Seconds between two reads of the graph while an edit is awaited."""

MAX_MOVED = 1000
"""Relations of each renamed or merged entity that an edit waits for, the heaviest first."""

T = TypeVar("T")
NO_VALUES = EditedValues()


@dataclass(frozen=True)
class GraphEditor:
    """Edits the graph of one workspace in the name of a principal. `timeout`: seconds to wait until
    an edit shows.
    """

    log: Log
    graph: Graph
    pointers: LiveGenerations
    workspace: str
    timeout: float
    principal: str = ""

    async def partition(self) -> Partition:
        """Return the workspace and the generation of the graph that is active."""
        return await graph_partition(self.pointers, self.workspace)

    async def entity(self, name: str) -> Entity:
        """Return the entity of that name, whose spelling may differ from the given one. Raises
        NotFound.
        """
        partition = await self.partition()
        name = await known_name(self.graph, partition, name)
        entities = await self.graph.entities(partition, [name])
        if name not in entities:
            raise NotFound(f"there is no entity of the name {name!r}")
        return entities[name]

    async def revision(self, partition: Partition, name: str) -> int | None:
        """Return how often the entity has changed; None while there is none: it may have another
        name now.
        """
        entity = (await self.graph.entities(partition, [name])).get(name)
        return entity.revision if entity else None

    async def publish(
        self, operation: GraphOperation, names: Sequence[str], **fields: object
    ) -> int:
        """Append an edit to the log, and return its time in microseconds since 1970."""
        edit = GraphEdited.model_validate(
            {"operation": operation, "names": tuple(names), "editor": self.principal, **fields}
        )
        return await edit_graph(self.log, workspace=self.workspace, edit=edit, source=SOURCE)

    async def wait_until_visible(
        self, find_visible: Callable[[Partition], Awaitable[T | None]]
    ) -> T | None:
        """Call `find_visible` until it returns a value, and return that; None after the timeout."""
        end = time.monotonic() + self.timeout
        while True:
            result = await find_visible(await self.partition())
            if result is not None or time.monotonic() >= end:
                return result
            await asyncio.sleep(POLL_INTERVAL)


@dataclass(frozen=True)
class EditResult(Generic[T]):
    """A published edit; `sequence` is its time in microseconds since 1970.

    `result` is the entity or relation after the edit, None while the graph does not show it.
    """

    sequence: int
    key: tuple[str, ...]
    result: T | None
    was_merged: bool = False
    was_renamed: bool = False
    relations: int = 0
    """Relations that are deleted with an entity."""


@dataclass(frozen=True)
class RenameOptions:
    """The new name of an entity, if any, and whether to rename it or merge it into an existing
    one.
    """

    name: str | None = None
    allow_rename: bool = False
    allow_merge: bool = False


async def create_entity(editor: GraphEditor, name: str, values: EditedValues) -> EditResult[Entity]:
    """Create an entity. Raises BadRequest for an invalid name, a missing description, or an
    existing entity.
    """
    name = entity_name(name)
    if not (values.description or "").strip():
        raise BadRequest("an entity needs a description")
    if await editor.graph.entities(await editor.partition(), [name]):
        raise BadRequest(f"there is an entity of the name {name!r} already: edit it")
    sequence = await editor.publish("create_entity", [name], values=values)
    return EditResult(
        sequence, (name,), await editor.wait_until_visible(_entity_visible(editor, name, values))
    )


async def edit_entity(
    editor: GraphEditor, name: str, values: EditedValues, rename: RenameOptions
) -> EditResult[Entity]:
    """Change an entity's values, its name, or both.

    Raises NotFound for an unknown entity, and BadRequest for a new name that is invalid, not
    allowed, or that of another entity without permission to merge, and when there is nothing to
    change.
    """
    name = (await editor.entity(name)).name
    new_name = name if rename.name is None else entity_name(rename.name)
    removed_names = [name] if new_name != name else []
    moved_relations = await _relations_after_merge(editor, removed_names, new_name)
    is_merge = False
    sequence = 0
    if new_name != name:
        if not rename.allow_rename:
            raise BadRequest("allow_rename must be true for another entity_name")
        is_merge = bool(await editor.graph.entities(await editor.partition(), [new_name]))
        if is_merge and not rename.allow_merge:
            raise BadRequest(
                f"there is an entity of the name {new_name!r} already: allow_merge merges the two"
            )
        sequence = await editor.publish(
            "merge_entities" if is_merge else "rename_entity", [name], target=new_name
        )
    if values != NO_VALUES:
        sequence = await editor.publish("edit_entity", [new_name], values=values)
    if not sequence:
        raise BadRequest(
            "nothing is said that could be changed: give description, entity_type or entity_name"
        )
    entity = await editor.wait_until_visible(
        _entity_visible(editor, new_name, values, removed_names, moved_relations)
    )
    return EditResult(
        sequence, (new_name,), entity, is_merge, was_renamed=new_name != name and not is_merge
    )


async def merge_entities(
    editor: GraphEditor, names: Sequence[str], target: str
) -> EditResult[Entity]:
    """Merge several entities into one, which may be new. Raises NotFound for an unknown one,
    BadRequest for none.
    """
    entities = await editor.graph.entities(await editor.partition(), [target])
    target = target if entities else entity_name(target)
    entity_names = dict.fromkeys(
        [(await editor.entity(name)).name for name in names if name != target]
    )
    sources = [name for name in entity_names if name != target]
    if not sources:
        raise BadRequest("give at least one entity to merge that is not the one to merge into")
    moved_relations = await _relations_after_merge(editor, sources, target)
    sequence = await editor.publish("merge_entities", sources, target=target)
    find_visible = _entity_visible(editor, target, NO_VALUES, sources, moved_relations)
    return EditResult(
        sequence, (target,), await editor.wait_until_visible(find_visible), was_merged=True
    )


async def delete_entity(editor: GraphEditor, name: str) -> EditResult[bool]:
    """Hide what documents say by now about an entity and its relations. Raises NotFound."""
    name = (await editor.entity(name)).name
    degrees = await editor.graph.degrees(await editor.partition(), [name])
    sequence = await editor.publish("delete_entity", [name])

    async def gone(partition: Partition) -> bool | None:
        return None if await editor.graph.entities(partition, [name]) else True

    return EditResult(
        sequence, (name,), await editor.wait_until_visible(gone), relations=degrees.get(name, 0)
    )


async def create_relation(
    editor: GraphEditor, source: str, target: str, values: EditedValues
) -> EditResult[Relation]:
    """Create a relation. Raises NotFound for an unknown entity, BadRequest for a loop or an
    existing relation.
    """
    key = _relation_key((await editor.entity(source)).name, (await editor.entity(target)).name)
    if await editor.graph.relations(await editor.partition(), [key]):
        raise BadRequest(f"there is a relation between {source!r} and {target!r} already: edit it")
    sequence = await editor.publish("create_relation", key, values=values)
    return EditResult(
        sequence, key, await editor.wait_until_visible(_relation_visible(editor, key, values))
    )


async def edit_relation(
    editor: GraphEditor, source: str, target: str, values: EditedValues
) -> EditResult[Relation]:
    """Change a relation's values. Raises NotFound for an unknown one, BadRequest when there is
    nothing to change.
    """
    key = await _existing_relation(editor, source, target)
    if values == NO_VALUES:
        raise BadRequest(
            "nothing is said that could be changed: give description, keywords or weight"
        )
    sequence = await editor.publish("edit_relation", key, values=values)
    return EditResult(
        sequence, key, await editor.wait_until_visible(_relation_visible(editor, key, values))
    )


async def delete_relation(editor: GraphEditor, source: str, target: str) -> EditResult[bool]:
    """Hide what documents say by now about a relation. Raises NotFound."""
    key = await _existing_relation(editor, source, target)
    sequence = await editor.publish("delete_relation", key)

    async def gone(partition: Partition) -> bool | None:
        return None if await editor.graph.relations(partition, [key]) else True

    return EditResult(sequence, key, await editor.wait_until_visible(gone))


async def _relations_after_merge(
    editor: GraphEditor, sources: Sequence[str], target: str
) -> list[tuple[str, str]]:
    """Return the relations that the target gets from the sources, at most `MAX_MOVED` of each."""
    summaries = await editor.graph.relation_summaries(
        await editor.partition(), sources, limit=MAX_MOVED
    )
    ends = {name for group in summaries.values() for summary in group for name in summary.key} - {
        *sources,
        target,
    }
    return [pair(target, end) for end in sorted(ends)]


def _entity_visible(
    editor: GraphEditor,
    name: str,
    values: EditedValues,
    removed_names: Sequence[str] = (),
    moved_relations: Sequence[tuple[str, str]] = (),
) -> Callable[[Partition], Awaitable[Entity | None]]:
    """Return a check for the entity with these values and the moved relations, and without the
    removed entities.

    The graph store shows entities before their relations.
    """

    async def look(partition: Partition) -> Entity | None:
        entities = await editor.graph.entities(partition, [name, *removed_names])
        entity = entities.get(name)
        if (
            entity is None
            or len(entities) > 1
            or len(await editor.graph.relations(partition, moved_relations)) < len(moved_relations)
        ):
            return None
        return (
            entity if _matches(values, type=entity.type, description=entity.description) else None
        )

    return look


def _relation_visible(
    editor: GraphEditor, key: tuple[str, str], values: EditedValues
) -> Callable[[Partition], Awaitable[Relation | None]]:
    """Return a check for the relation with these values."""

    async def look(partition: Partition) -> Relation | None:
        relation = (await editor.graph.relations(partition, [key])).get(key)
        if relation is None:
            return None
        expected_texts = (
            values.model_copy(update={"keywords": tuple(sorted(values.keywords))})
            if values.keywords
            else values
        )
        matches = _matches(
            expected_texts,
            description=relation.description,
            keywords=relation.keywords,
            weight=relation.weight,
        )
        return relation if matches else None

    return look


def _matches(values: EditedValues, **fields: object) -> bool:
    """Return whether the fields equal the values that are set."""
    return all(getattr(values, name) in (None, value) for name, value in fields.items())


def entity_name(text: str) -> str:
    """Return the text normalized as an entity name. Raises BadRequest for an invalid name."""
    name = clean_name(text)
    if not name:
        raise BadRequest(
            "this is no name of an entity: give a word, or a number of at least three digits"
        )
    return name


def _relation_key(source: str, target: str) -> tuple[str, str]:
    if source == target:
        raise BadRequest("a relation needs two different entities")
    return pair(source, target)


async def _existing_relation(editor: GraphEditor, source: str, target: str) -> tuple[str, str]:
    partition = await editor.partition()
    key = _relation_key(
        *[await known_name(editor.graph, partition, name) for name in (source, target)]
    )
    if not await editor.graph.relations(partition, [key]):
        raise NotFound(f"there is no relation between {source!r} and {target!r}")
    return key
