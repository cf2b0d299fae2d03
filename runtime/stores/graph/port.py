"""The port of the graph store: entities and relations with revisions."""

from collections.abc import AsyncGenerator, Collection, Sequence
from dataclasses import dataclass
from typing import NamedTuple, Protocol

from contracts.graph import UNKNOWN_TYPE, Entity, Partition, Relation
from runtime.stores.port import Checkpoint

MOST_SOURCES = 12
"""Chunks that a node or a relation summary names at most: the first ones of its list."""


class Node(NamedTuple):
    """An entity without its texts. A question makes thousands: a tuple takes a fifth of what a
    frozen dataclass does.
    """

    name: str
    type: str = UNKNOWN_TYPE
    source_ids: tuple[str, ...] = ()
    support: int = 0
    """Chunks that name it."""


class RelationSummary(NamedTuple):
    """A relation without its texts, `source` ≤ `target`; with as much of the rest as was asked
    for.
    """

    source: str
    target: str
    weight: float = 0.0
    keywords: tuple[str, ...] = ()
    source_ids: tuple[str, ...] = ()

    @property
    def key(self) -> tuple[str, str]:
        """The sorted pair of names."""
        return (self.source, self.target)


@dataclass(frozen=True)
class Neighbourhood:
    """Entities and their relations."""

    nodes: dict[str, Node]
    """By name: the requested entities that exist, and the other ends of the relations."""
    relation_summaries: list[RelationSummary]
    """Each once, heaviest first, then by names."""
    degrees: dict[str, int]
    """The number of relations of each requested entity, also where fewer were read."""


class Graph(Protocol):
    """An undirected property graph. One contract for all adapters, tested by
    `tests/contract/test_graph.py`.

    A write takes effect only where its revision is greater than the stored one, under any
    concurrency, in any order, any number of times: the highest revision always stands in the end.
    `gone` entities and relations are kept as tombstones for that guard and never shown by a read,
    nor counted. Empty input is allowed and does nothing. A store that does not answer raises
    `Unavailable` within the adapter's own time limit; whether a write happened is then unknown, and
    writing again is right.
    """

    async def prepare(self) -> None:
        """Make constraints and indexes. Repeats change nothing."""
        ...

    async def missing(self) -> list[str]:
        """Return what `prepare` would make, a line each."""
        ...

    async def ping(self) -> None:
        """Return when the store answers a query, else raise `Unavailable`."""
        ...

    async def put(
        self, partition: Partition, entities: Sequence[Entity], relations: Sequence[Relation]
    ) -> None:
        """Write the entities, then the relations. Of two rows with one key the higher revision
        counts.

        A relation's end that does not exist is made as a tombstone of revision 0.
        """
        ...

    async def entities(self, partition: Partition, names: Collection[str]) -> dict[str, Entity]:
        """Return the entities that exist among `names`."""
        ...

    async def relations(
        self, partition: Partition, pairs: Collection[tuple[str, str]]
    ) -> dict[tuple[str, str], Relation]:
        """Return the relations that exist among the sorted `pairs`."""
        ...

    async def excerpts(
        self,
        partition: Partition,
        names: Collection[str],
        pairs: Collection[tuple[str, str]],
        *,
        longest: int,
    ) -> tuple[dict[str, Entity], dict[tuple[str, str], Relation]]:
        """Return what exists among `names` and the sorted `pairs`, with revision, keywords and
        support alone.

        Of each description the first `longest` characters; 0 is the cheapest way to ask for
        revisions. Entities are read first: what changes meanwhile may be seen of a relation and not
        of its ends.
        """
        ...

    async def degrees(self, partition: Partition, names: Collection[str]) -> dict[str, int]:
        """Return the number of relations at each existing entity among `names`."""
        ...

    async def relation_summaries(
        self, partition: Partition, names: Collection[str], *, limit: int
    ) -> dict[str, list[RelationSummary]]:
        """The relations at each of these entities, without keywords and chunks: heaviest first,
        then by names.

        At most `limit` per entity, of the first 2,000 that the store has: more of a hub is never
        read.
        """
        ...

    async def nodes(self, partition: Partition, names: Collection[str]) -> dict[str, Node]:
        """Return the entities that exist among `names`, without their texts."""
        ...

    async def neighbourhood(
        self, partition: Partition, names: Collection[str], *, limit: int
    ) -> Neighbourhood:
        """These entities, the relations at them, at most `limit` per entity (the heaviest), and
        their ends.

        Light: without descriptions, and with `MOST_SOURCES` chunks of each at most. A relation
        whose other end is gone is left out, but counted in `degrees`.
        """
        ...

    async def scan_names(
        self, partition: Partition, after: str = "", limit: int = 5000, *, containing: str = ""
    ) -> list[tuple[str, str]]:
        """Name and type of up to `limit` entities, in the order and as `scan_entities` pages.

        `containing`: those that may have this text in them, whatever its case and spelling; a store
        leaves out what it can tell cheaply, and others may be among them.
        """
        ...

    async def scan_entities(
        self, partition: Partition, after: str = "", limit: int = 1000
    ) -> list[Entity]:
        """Up to `limit` entities after the name `after`, in an order of the store's own; tombstones
        left out.

        A page is empty only at the end.
        """
        ...

    async def scan_relations(
        self, partition: Partition, after: tuple[str, str] = ("", ""), limit: int = 1000
    ) -> list[Relation]:
        """Return up to `limit` relations, paged like `scan_entities`."""
        ...

    def everything(
        self, partition: Partition, rows: int
    ) -> AsyncGenerator[Sequence[Entity] | Sequence[Relation]]:
        """Yield all entities, then all relations, about `rows` at a time, in no order.

        For readers who would take all: the cheapest way to do it. What is written meanwhile may be
        among them or not.
        """
        ...

    async def hubs(self, partition: Partition, *, limit: int) -> list[str]:
        """The names of the entities with the most relations, those first that have more, then by
        name.

        For people who look at a graph, not for questions: servers look at every entity. A SQLite
        file keeps degrees, and does so only where few entities have four relations.
        """
        ...

    async def drop(self, partition: Partition) -> None:
        """Remove everything of this partition, tombstones too."""
        ...

    async def partitions(self) -> set[Partition]:
        """Return every partition that holds anything."""
        ...

    async def checkpoint(self, generation: int) -> Checkpoint | None:
        """See `CheckpointStore`. No read, list, count or digest of a graph shows a checkpoint."""
        ...

    async def put_checkpoint(self, generation: int, checkpoint: Checkpoint) -> None:
        """See `CheckpointStore`."""
        ...

    async def drop_checkpoint(self, generation: int) -> None:
        """Forget the checkpoint of that generation. Repeats change nothing."""
        ...

    async def close(self) -> None:
        """Close the connections. No call may follow."""
        ...
