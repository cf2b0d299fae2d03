"""Edits of the graph by people: checked against the graph, published as events, and waited for until they show."""

import asyncio
import time
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar

from contracts.events import GraphEdited, GraphOperation
from contracts.graph import Entity, Partition, Relation
from contracts.ids import pair
from contracts.names import clean_name
from contracts.values import EditedValues
from runtime.bus.port import ActiveGenerations, Log
from runtime.bus.publisher import edit_graph
from runtime.stores.graph.port import Graph
from services.query.errors import BadRequest, NotFound
from services.query.event_source import SOURCE

PACE = 0.05
"""Seconds between two looks at the graph."""

MOST_MOVED = 1000
"""Relations of each renamed or merged entity that an answer waits for, the heaviest first."""

T = TypeVar("T")
NOTHING = EditedValues()


@dataclass(frozen=True)
class Desk:
    """Where the graph of one workspace is edited. `patience`: seconds an edit is waited for; `editor`: who edits."""

    log: Log
    graph: Graph
    pointers: ActiveGenerations
    workspace: str
    patience: float
    editor: str = ""

    async def space(self) -> Partition:
        """Where the graph is now."""
        return Partition(self.workspace, (await self.pointers.live("graph")).graph)

    async def entity(self, name: str) -> Entity:
        """The entity of that name. Raises `NotThere`."""
        found = await self.graph.entities(await self.space(), [name])
        if name not in found:
            raise NotFound(f"there is no entity of the name {name!r}")
        return found[name]

    async def publish(self, operation: GraphOperation, names: Sequence[str], **more: object) -> int:
        """Append an edit to the log; its time, in microseconds since 1970."""
        edit = GraphEdited.model_validate(
            {"operation": operation, "names": tuple(names), "editor": self.editor, **more}
        )
        return await edit_graph(self.log, workspace=self.workspace, edit=edit, source=SOURCE)

    async def shown(self, look: Callable[[Partition], Awaitable[T | None]]) -> T | None:
        """What `look` finds in the graph, as soon as it finds something; None when the patience is over."""
        end = time.monotonic() + self.patience
        while True:
            found = await look(await self.space())
            if found is not None or time.monotonic() >= end:
                return found
            await asyncio.sleep(PACE)


@dataclass(frozen=True)
class Edited(Generic[T]):
    """An edit that the log has, made at `sequence`, in microseconds since 1970.

    `thing` is what it made, None while the graph does not show it.
    """

    sequence: int
    key: tuple[str, ...]
    thing: T | None
    merged: bool = False
    renamed: bool = False
    relations: int = 0
    """Relations that went with an entity."""


@dataclass(frozen=True)
class Renaming:
    """Another name for an entity, and what is allowed for it."""

    name: str | None = None
    allow_rename: bool = False
    allow_merge: bool = False


async def create_entity(desk: Desk, name: str, values: EditedValues) -> Edited[Entity]:
    """Make an entity. Raises `NotTaken` for what is no name, has no description, or is there already."""
    name = _named(name)
    if not (values.description or "").strip():
        raise BadRequest("an entity needs a description")
    if await desk.graph.entities(await desk.space(), [name]):
        raise BadRequest(f"there is an entity of the name {name!r} already: edit it")
    sequence = await desk.publish("create_entity", [name], values=values)
    return Edited(sequence, (name,), await desk.shown(_entity(desk, name, values)))


async def edit_entity(desk: Desk, name: str, values: EditedValues, renaming: Renaming) -> Edited[Entity]:
    """Say something else of an entity, or call it something else.

    Raises `NotThere` without such an entity, and `NotTaken` for a new name that is none, is not allowed to be given, or
    belongs to another entity that it must not be merged into.
    """
    await desk.entity(name)
    new = name if renaming.name is None else _named(renaming.name)
    gone = [name] if new != name else []
    moved = await _moved(desk, gone, new)
    merged = False
    sequence = 0
    if new != name:
        if not renaming.allow_rename:
            raise BadRequest("allow_rename must be true for another entity_name")
        merged = bool(await desk.graph.entities(await desk.space(), [new]))
        if merged and not renaming.allow_merge:
            raise BadRequest(f"there is an entity of the name {new!r} already: allow_merge merges the two")
        sequence = await desk.publish("merge_entities" if merged else "rename_entity", [name], target=new)
    if values != NOTHING:
        sequence = await desk.publish("edit_entity", [new], values=values)
    if not sequence:
        raise BadRequest("nothing is said that could be changed: give description, entity_type or entity_name")
    entity = await desk.shown(_entity(desk, new, values, gone, moved))
    return Edited(sequence, (new,), entity, merged, renamed=new != name and not merged)


async def merge_entities(desk: Desk, names: Sequence[str], target: str) -> Edited[Entity]:
    """Make several entities one, which may be new. Raises `NotThere` for a missing one, `NotTaken` for none at all."""
    found = await desk.graph.entities(await desk.space(), [target])
    target = target if found else _named(target)
    sources = [name for name in dict.fromkeys(names) if name != target]
    if not sources:
        raise BadRequest("give at least one entity to merge that is not the one to merge into")
    for name in sources:
        await desk.entity(name)
    moved = await _moved(desk, sources, target)
    sequence = await desk.publish("merge_entities", sources, target=target)
    look = _entity(desk, target, NOTHING, sources, moved)
    return Edited(sequence, (target,), await desk.shown(look), merged=True)


async def delete_entity(desk: Desk, name: str) -> Edited[bool]:
    """Hide what documents say of an entity up to now, and of its relations. Raises `NotThere`."""
    await desk.entity(name)
    degrees = await desk.graph.degrees(await desk.space(), [name])
    sequence = await desk.publish("delete_entity", [name])

    async def gone(space: Partition) -> bool | None:
        return None if await desk.graph.entities(space, [name]) else True

    return Edited(sequence, (name,), await desk.shown(gone), relations=degrees.get(name, 0))


async def create_relation(desk: Desk, source: str, target: str, values: EditedValues) -> Edited[Relation]:
    """Tie two entities. Raises `NotThere` without one of them, `NotTaken` when they are one or are tied already."""
    key = _tied(source, target)
    for name in (source, target):
        await desk.entity(name)
    if await desk.graph.relations(await desk.space(), [key]):
        raise BadRequest(f"there is a relation between {source!r} and {target!r} already: edit it")
    sequence = await desk.publish("create_relation", key, values=values)
    return Edited(sequence, key, await desk.shown(_relation(desk, key, values)))


async def edit_relation(desk: Desk, source: str, target: str, values: EditedValues) -> Edited[Relation]:
    """Say something else of a relation. Raises `NotThere` without it, `NotTaken` where nothing is said."""
    key = await _existing(desk, source, target)
    if values == NOTHING:
        raise BadRequest("nothing is said that could be changed: give description, keywords or weight")
    sequence = await desk.publish("edit_relation", key, values=values)
    return Edited(sequence, key, await desk.shown(_relation(desk, key, values)))


async def delete_relation(desk: Desk, source: str, target: str) -> Edited[bool]:
    """Hide what documents say of a relation up to now. Raises `NotThere`."""
    key = await _existing(desk, source, target)
    sequence = await desk.publish("delete_relation", key)

    async def gone(space: Partition) -> bool | None:
        return None if await desk.graph.relations(space, [key]) else True

    return Edited(sequence, key, await desk.shown(gone))


async def _moved(desk: Desk, sources: Sequence[str], target: str) -> list[tuple[str, str]]:
    """The relations that the target will have once it has those of the sources; at most `MOST_MOVED` of each."""
    ties = await desk.graph.relation_summaries(await desk.space(), sources, limit=MOST_MOVED)
    ends = {name for some in ties.values() for tie in some for name in tie.key} - {*sources, target}
    return [pair(target, end) for end in sorted(ends)]


def _entity(
    desk: Desk, name: str, values: EditedValues, gone: Sequence[str] = (), moved: Sequence[tuple[str, str]] = ()
) -> Callable[[Partition], Awaitable[Entity | None]]:
    """Looks for the entity as it is to be, with the moved relations and none of the others there any more.

    The graph store shows entities before their relations.
    """

    async def look(space: Partition) -> Entity | None:
        found = await desk.graph.entities(space, [name, *gone])
        entity = found.get(name)
        if entity is None or len(found) > 1 or len(await desk.graph.relations(space, moved)) < len(moved):
            return None
        return entity if _says(values, type=entity.type, description=entity.description) else None

    return look


def _relation(
    desk: Desk, key: tuple[str, str], values: EditedValues
) -> Callable[[Partition], Awaitable[Relation | None]]:
    """Looks for the relation as it is to be."""

    async def look(space: Partition) -> Relation | None:
        relation = (await desk.graph.relations(space, [key])).get(key)
        if relation is None:
            return None
        wanted = values.model_copy(update={"keywords": tuple(sorted(values.keywords))}) if values.keywords else values
        said = _says(wanted, description=relation.description, keywords=relation.keywords, weight=relation.weight)
        return relation if said else None

    return look


def _says(values: EditedValues, **fields: object) -> bool:
    """Whether the fields are as the values say, where they say anything."""
    return all(getattr(values, name) in (None, value) for name, value in fields.items())


def _named(text: str) -> str:
    """The text as the name of an entity is kept. Raises `NotTaken` for what is no name."""
    name = clean_name(text)
    if not name:
        raise BadRequest("this is no name of an entity: give a word, or a number of at least three digits")
    return name


def _tied(source: str, target: str) -> tuple[str, str]:
    if source == target:
        raise BadRequest("a relation needs two different entities")
    return pair(source, target)


async def _existing(desk: Desk, source: str, target: str) -> tuple[str, str]:
    key = _tied(source, target)
    if not await desk.graph.relations(await desk.space(), [key]):
        raise NotFound(f"there is no relation between {source!r} and {target!r}")
    return key
