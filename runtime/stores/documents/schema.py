"""The schema version of the stores: `prepare` records it, and older programs refuse a newer one.

One row of the document store speaks for all three stores. It is raised when older code would
misread tables, properties or collections; what is new and optional does not raise it.

The row also names the projections that are owed: those of which an older program stored what this
one cannot go on with. Every generation of them counts as incomplete until a rebuild has recorded
that it made the generation itself. So a missing record is a debt, never a sign of health.
"""

from collections.abc import Collection, Set
from dataclasses import dataclass

from contracts.graph import PROJECTIONS, Partition, Projection
from runtime.errors import ConfigurationError
from runtime.stores.documents.port import Row, Rows, Table

VERSION = 8
"""2: the lists of the graph are strings of JSON.
3: vectors of entities and relations have other ids. Older ones are only searched.
4: contributions of chunks stand in other tables.
5: new embeddings in the cache have half precision. Older ones stay, and are read.
6: the row names the projections that are owed. Those of versions before 4 owe graph and vectors,
those of version 1 the status of documents, too.
7: in SQLite files keys of mentions and of cached embeddings stand in sorted runs. `prepare` moves
those of older ones there.
8: new embeddings in the cache are compressed, and so are lists of chunks in SQLite files. Older
ones stay, and are read."""

TABLE = Table("schema", Partition("lightstream", 0))
CHECKPOINTS = Table("checkpoints", Partition("lightstream", 0))
KEY = "stores"

_OTHER_STATUS = 2
_OTHER_CONTRIBUTIONS = 4
_DEBTS_RECORDED = 6

_FILLED_BY_PROJECTIONS = (
    "documents",
    "chunks",
    "chunk_contributions",
    "graph_extents",
    "vector_extents",
)
"""Tables that have rows as soon as anything was processed."""

_OF_GRAPH: tuple[Projection, ...] = ("graph", "vectors")
"""The graph, and the vectors that were made from its entities and relations."""

_OLDEST = 50
"""Documents that are looked at to tell whether an older program merged them."""


@dataclass(frozen=True)
class SchemaRecord:
    """The schema of the stores: its version (0: none recorded), and what is owed of which
    generations.
    """

    version: int = 0
    owed_projections: frozenset[str] = frozenset()
    complete: frozenset[str] = frozenset()
    """Generations that a rebuild made since, as `graph.7`."""

    def is_owed(self, projection: Projection, generation: int) -> bool:
        """Return whether that generation lacks what older programs stored elsewhere."""
        return (
            projection in self.owed_projections
            and _generation_key(projection, generation) not in self.complete
        )

    @property
    def problem(self) -> str:
        """Return why this program must not use the stores; empty when it may."""
        if self.version <= VERSION:
            return ""
        return (
            f"the stores have schema {self.version}, this program knows {VERSION}: "
            "run the newer program, or stores of its own"
        )


async def read(rows: Rows) -> SchemaRecord:
    """Return what is recorded. Raises `Unavailable`."""
    stored_rows = dict(await rows.scan(TABLE))
    row: Row = stored_rows.pop(KEY, {})
    return SchemaRecord(
        int(row.get("version", 0)), frozenset(row.get("owed", ())), frozenset(stored_rows)
    )


async def recorded(rows: Rows) -> int:
    """Return the version that was recorded, 0 when none was."""
    return (await read(rows)).version


async def refuse_newer(rows: Rows) -> None:
    """Raises ConfigurationError when newer code has prepared the stores. Changes nothing."""
    if problem := (await read(rows)).problem:
        raise ConfigurationError(problem)


async def enter(rows: Rows) -> None:
    """Record our version and what is owed since an older one, unless it is there: one write,
    whoever comes first.

    Raises ConfigurationError when newer code has prepared the stores.
    """
    await refuse_newer(rows)
    before = await recorded(rows)
    if before == VERSION:
        return
    owed_projections = await _left_incomplete(rows, before)

    def raised(stored_rows: dict[str, Row]) -> dict[str, Row]:
        row = stored_rows.get(KEY, {})
        if int(row.get("version", 0)) >= VERSION:
            return {}
        return {
            KEY: {"version": VERSION, "owed": sorted({*row.get("owed", ()), *owed_projections})}
        }

    await rows.update(TABLE, [KEY], raised)
    await refuse_newer(rows)


async def complete(rows: Rows, projection: Projection, generation: int) -> None:
    """Record that this program makes the generation from the log: nothing is owed of it."""
    await rows.put(TABLE, {_generation_key(projection, generation): {"version": VERSION}})


async def owe(rows: Rows, projection: Projection, generation: int) -> None:
    """Record that the generation must be rebuilt. Repeats change nothing."""
    await rows.delete(TABLE, [_generation_key(projection, generation)])

    def added(stored_rows: dict[str, Row]) -> dict[str, Row]:
        row = stored_rows.get(KEY, {"version": VERSION})
        return {KEY: {**row, "owed": sorted({*row.get("owed", ()), projection})}}

    await rows.update(TABLE, [KEY], added)


async def forget_others(
    rows: Rows, projection: Projection, kept_generations: Collection[int | None]
) -> None:
    """Remove the records of all generations of a projection but these."""
    keys = {
        _generation_key(projection, generation)
        for generation in kept_generations
        if generation is not None
    }
    prefix = f"{projection}."
    stored_keys = [key for key, _ in await rows.scan(TABLE)]
    await rows.delete(
        TABLE, [key for key in stored_keys if key.startswith(prefix) and key not in keys]
    )


def _generation_key(projection: str, generation: int) -> str:
    return f"{projection}.{generation}"


async def _left_incomplete(rows: Rows, version: int) -> Collection[Projection]:
    """Return the projections that stores of this version owe."""
    if version == 0:
        # Either nothing is stored yet, or it is from before versions were recorded, or the record
        # was lost.
        filled_partitions = [await rows.partitions(name) for name in _FILLED_BY_PROJECTIONS]
        return PROJECTIONS if any(filled_partitions) else ()
    if version < _OTHER_STATUS:
        return PROJECTIONS
    if version < _OTHER_CONTRIBUTIONS:
        return _OF_GRAPH
    if version < _DEBTS_RECORDED and await _lacks_contributions(rows):
        return _OF_GRAPH
    return ()


async def _lacks_contributions(rows: Rows) -> bool:
    """Return whether chunks of the oldest documents contribute nothing, not even that they name
    nobody.

    Versions 4 and 5 recorded no debt when they took over older stores, whose contributions they did
    not read.
    """
    contributing = await rows.partitions("chunk_contributions")
    for partition in await rows.partitions("documents"):
        table = Table("documents", partition)
        oldest_rows = await rows.find(
            table, {"status": "processed"}, order="version", limit=_OLDEST
        )
        documents = {row["id"] for _, row in oldest_rows if row.get("chunk_count")}
        generations = [
            contributing_partition
            for contributing_partition in contributing
            if contributing_partition.workspace == partition.workspace
        ]
        if documents and not await _contribute(rows, documents, generations):
            return True
    return False


async def _contribute(rows: Rows, documents: Set[str], generations: Collection[Partition]) -> bool:
    """Return whether all these documents have contributions in some generation."""
    for partition in generations:
        table = Table("chunk_contributions", partition)
        contributions = await rows.find(table, {"document_id": list(documents)})
        if documents <= {row["document_id"] for _, row in contributions}:
            return True
    return False
