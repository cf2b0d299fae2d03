"""The graph store over Bolt, with the neo4j driver: Neo4j 5.26 and newer, or ArcadeDB, by the same statements."""

import contextlib
from collections.abc import Awaitable, Callable, Collection, Mapping, Sequence
from typing import Any, TypeVar

from neo4j import AsyncGraphDatabase, AsyncTransaction
from neo4j.exceptions import (
    AuthError,
    ConstraintError,
    DriverError,
    Neo4jError,
    ServiceUnavailable,
    SessionExpired,
)
from neo4j.exceptions import ConfigurationError as DriverConfigurationError

from contracts.graph import Entity, Partition, Relation
from runtime.concurrency.isolated import run_with_timeout
from runtime.errors import ConfigurationError, Unavailable
from runtime.retries import Backoff
from runtime.stores.graph.neo4j import cypher, cypher_checkpoints
from runtime.stores.graph.port import Neighbourhood, RelationSummary
from runtime.stores.graph.write_batches import (
    SCANNED_TIES,
    batches,
    by_smaller_end,
    can_be_stored,
    newest_entities,
    newest_relations,
    size_of_entity,
    size_of_relation,
    sorted_ties,
)
from runtime.stores.port import Checkpoint

T = TypeVar("T")
Records = list[dict[str, Any]]
Pair = tuple[str, str]

SCHEMES = frozenset(name + suffix for name in ("bolt", "neo4j") for suffix in ("", "+s", "+ssc"))
URI_FORM = "the graph's URI must look like bolt://host:7687 or neo4j://host:7687"

CONFLICTS = Backoff(first=0.005, longest=0.25, spread=1.0)
"""Between two tries of a transaction."""

CONFLICT_TRIES = 60
CONNECTION_TRIES = 2
"""The first may have been given a pooled connection of a server that has restarted since."""

UNKNOWN = "Neo.DatabaseError.General.UnknownError"
UNKNOWN_TRIES = 10

DROPPED_AT_ONCE = 2000


class BoltGraph:
    """The port `Graph` over Bolt. `timeout` bounds, in seconds, one transaction with all its retries.

    A long call is several transactions of at most 500 rows and 4 MB, each of them whole or not at all. Raises
    ConfigurationError when the URI is none, `Poison` when a row can never be stored, `Unavailable` for anything the
    store says: a redelivered event does no harm, a document that fails because of a store does.
    """

    def __init__(self, uri: str, user: str, password: str, database: str = "neo4j", *, timeout: float = 30.0) -> None:
        self._database = database
        self._timeout = timeout
        if uri.partition("://")[0] not in SCHEMES:  # the driver would also take http, which has other rules
            raise ConfigurationError(URI_FORM)
        try:
            self._driver = AsyncGraphDatabase.driver(
                uri,
                auth=(user, password),
                connection_timeout=timeout,
                connection_acquisition_timeout=timeout,
                max_transaction_retry_time=0,
                notifications_min_severity="OFF",
                telemetry_disabled=True,
            )
        except (DriverConfigurationError, ValueError) as error:
            raise ConfigurationError(URI_FORM) from error

    async def prepare(self) -> None:
        for statement in cypher.SCHEMA.values():
            await self._query(statement)

    async def missing(self) -> list[str]:
        names = [record["name"] for record in await self._query(cypher.INDEXES)]
        existing = {cypher.ALIASES.get(name, name) for name in names}
        return [f"{name} is not there" for name in cypher.SCHEMA if name not in existing]

    async def ping(self) -> None:
        await self._query(cypher.PING)

    async def put(self, partition: Partition, entities: Sequence[Entity], relations: Sequence[Relation]) -> None:
        new_entities, new_relations = newest_entities(entities), newest_relations(relations)
        for some in batches(new_entities, size_of_entity):
            rows = [cypher.entity_row(entity) for entity in some]
            await self._query(cypher.PUT_ENTITIES, **_key(partition), rows=rows)
        for some in batches(new_relations, size_of_relation):
            await self._put_relations(partition, some)

    async def _put_relations(self, partition: Partition, relations: list[Relation]) -> None:
        rows = [cypher.relation_row(relation) for relation in relations]

        async def work(transaction: AsyncTransaction) -> None:
            sizes = await _sizes_of_ends(transaction, partition, rows)
            missing = sorted({name for relation in relations for name in relation.key if name not in sizes})
            if missing:
                ends = [cypher.end_row(name) for name in missing]
                await _run(transaction, cypher.PUT_MISSING_ENDS, **_key(partition), rows=ends)
            from_source, from_target = by_smaller_end(rows, sizes)
            if from_source:
                await _run(transaction, cypher.PUT_RELATIONS_FROM_SOURCE, **_key(partition), rows=from_source)
            if from_target:
                await _run(transaction, cypher.PUT_RELATIONS_FROM_TARGET, **_key(partition), rows=from_target)

        await self._transact(work)

    async def entities(self, partition: Partition, names: Collection[str]) -> dict[str, Entity]:
        records = await self._by_name(cypher.ENTITIES, partition, names)
        return {record["name"]: cypher.read_entity(record) for record in records}

    async def relations(self, partition: Partition, pairs: Collection[Pair]) -> dict[Pair, Relation]:
        storable = sorted({pair for pair in pairs if all(map(can_be_stored, pair))})
        relations: dict[Pair, Relation] = {}
        for some in batches(storable, lambda pair: len(pair[0].encode()) + len(pair[1].encode())):
            for record in await self._relations_between(partition, some):
                relation = cypher.read_relation(record)
                relations[relation.key] = relation
        return relations

    async def _relations_between(self, partition: Partition, pairs: list[Pair]) -> Records:
        rows = [{"source": source, "target": target} for source, target in pairs]

        async def work(transaction: AsyncTransaction) -> Records:
            sizes = await _sizes_of_ends(transaction, partition, rows)
            statements = (cypher.RELATIONS_FROM_SOURCE, cypher.RELATIONS_FROM_TARGET)
            records: Records = []
            for statement, some in zip(statements, by_smaller_end(rows, sizes), strict=True):
                records += await _run(transaction, statement, **_key(partition), rows=some) if some else []
            return records

        return await self._transact(work)

    async def degrees(self, partition: Partition, names: Collection[str]) -> dict[str, int]:
        records = await self._by_name(cypher.DEGREES, partition, names)
        return {record["name"]: record["degree"] for record in records}

    async def relation_summaries(
        self, partition: Partition, names: Collection[str], *, limit: int
    ) -> dict[str, list[RelationSummary]]:
        if limit < 1:
            return {}
        records = await self._by_name(cypher.TIES, partition, names, limit=limit, scanned=SCANNED_TIES)
        lists = {r["name"]: zip(r["sources"], r["targets"], r["weights"], strict=True) for r in records}
        return {name: sorted_ties(RelationSummary(*values) for values in some) for name, some in lists.items()}

    async def neighbourhood(self, partition: Partition, names: Collection[str], *, limit: int) -> Neighbourhood:
        records = await self._by_name(cypher.NODES, partition, names)
        degrees = {record["name"]: record["degree"] for record in records}
        tied = await self._by_name(cypher.TIED, partition, degrees, limit=limit) if limit > 0 else []
        nodes = {record["other"]: cypher.read_node(record["other"], record) for record in tied}
        nodes |= {record["name"]: cypher.read_node(record["name"], record) for record in records}
        once = {(tie.source, tie.target): tie for tie in map(cypher.read_tie, tied)}
        ties = sorted(once.values(), key=lambda tie: (-tie.weight, tie.source, tie.target))
        return Neighbourhood(nodes, ties, degrees)

    async def scan_names(self, partition: Partition, after: str = "", limit: int = 5000) -> list[Pair]:
        place = {"page": cypher.page_of(after) if after else 0, "last_page": cypher.PAGES - 1, "after": after}
        records = await self._query(cypher.SCAN_NAMES, **_key(partition), **place, limit=max(limit, 0))
        return [(record["name"], record["type"]) for record in records]

    async def scan_entities(self, partition: Partition, after: str = "", limit: int = 1000) -> list[Entity]:
        place = {"page": cypher.page_of(after) if after else 0, "last_page": cypher.PAGES - 1, "after": after}
        records = await self._query(cypher.SCAN_ENTITIES, **_key(partition), **place, limit=max(limit, 0))
        return [cypher.read_entity(record) for record in records]

    async def scan_relations(self, partition: Partition, after: Pair = ("", ""), limit: int = 1000) -> list[Relation]:
        source, target = after
        place = {"page": cypher.page_of(source) if source else 0, "last_page": cypher.PAGES - 1}
        records = await self._query(
            cypher.SCAN_RELATIONS, **_key(partition), **place, source=source, target=target, limit=max(limit, 0)
        )
        return [cypher.read_relation(record) for record in records]

    async def hubs(self, partition: Partition, *, limit: int) -> list[str]:
        records = await self._query(cypher.HUBS, **_key(partition), last_page=cypher.PAGES - 1, limit=max(limit, 0))
        return [record["name"] for record in records]

    async def drop(self, partition: Partition) -> None:
        for statement in (cypher.DROP_RELATIONS, cypher.DROP_ENTITIES):
            place = {"page": 0, "last_page": cypher.PAGES - 1, "limit": DROPPED_AT_ONCE}
            while (gone := (await self._query(statement, **_key(partition), **place))[0])["deleted"]:
                place["page"] = gone["page"]

    async def partitions(self) -> set[Partition]:
        records = await self._query(cypher.SPACES)
        return {Partition(record["workspace"], record["generation"]) for record in records}

    async def checkpoint(self, generation: int) -> Checkpoint | None:
        records = await self._query(cypher_checkpoints.CHECKPOINT, generation=generation)
        return Checkpoint(records[0]["sequence"], records[0]["log"]) if records else None

    async def put_checkpoint(self, generation: int, checkpoint: Checkpoint) -> None:
        values = {"sequence": checkpoint.sequence, "log": checkpoint.log}
        await self._query(cypher_checkpoints.PUT_CHECKPOINT, generation=generation, **values)

    async def drop_checkpoint(self, generation: int) -> None:
        await self._query(cypher_checkpoints.DROP_CHECKPOINT, generation=generation)

    async def close(self) -> None:
        with contextlib.suppress(TimeoutError, DriverError, Neo4jError):
            await run_with_timeout(self._timeout, self._driver.close())

    async def _by_name(
        self, statement: str, partition: Partition, names: Collection[str], **parameters: Any
    ) -> Records:
        """Return the records of a statement over `$names`, run in batches. Names that cannot be stored are left out."""
        storable = sorted(filter(can_be_stored, set(names)))
        records: Records = []
        for some in batches(storable, lambda name: len(name.encode())):
            records += await self._query(statement, **_key(partition), names=some, **parameters)
        return records

    async def _query(self, statement: str, **parameters: Any) -> Records:
        """Run one statement in a transaction of its own and return its records."""

        async def work(transaction: AsyncTransaction) -> Records:
            return await _run(transaction, statement, **parameters)

        return await self._transact(work)

    async def _transact(self, work: Callable[[AsyncTransaction], Awaitable[T]]) -> T:
        """Run `work`, which must be idempotent, in one transaction, within our own time limit.

        ArcadeDB ignores the transaction timeout that the protocol knows, and never answers some messages.
        """
        try:
            return await run_with_timeout(self._timeout, self._attempts(work))
        except TimeoutError as error:
            raise Unavailable(f"the graph store did not answer within {self._timeout:g} s") from error
        except AuthError as error:
            raise Unavailable("the graph store refuses the user or the password") from error
        except (DriverError, Neo4jError, OSError) as error:
            # Messages of the server may quote names out of documents, which must not reach a log.
            code = getattr(error, "code", None) or ""
            raise Unavailable(f"the graph store fails: {type(error).__name__} {code}".rstrip()) from error

    async def _attempts(self, work: Callable[[AsyncTransaction], Awaitable[T]]) -> T:
        """Try again after conflicts with other writers, and after a lost connection."""
        tries = 0

        def again(error: Exception) -> bool:
            nonlocal tries
            tries += 1
            return isinstance(error, DriverError | Neo4jError) and tries < _tries(error)

        return await CONFLICTS.retry(lambda: self._attempt(work), again)

    async def _attempt(self, work: Callable[[AsyncTransaction], Awaitable[T]]) -> T:
        # Write access also for reads: in a cluster they then go to the leader, and see what was written.
        async with self._driver.session(database=self._database) as session:
            transaction = await session.begin_transaction()
            async with transaction:
                result = await work(transaction)
                await transaction.commit()
                return result


def _tries(error: DriverError | Neo4jError) -> int:
    """Return how often a transaction may be tried that ends in this error.

    ArcadeDB answers a lost race to create a key with ConstraintError, and some other conflicts with an unknown error,
    neither of which the driver calls retryable.
    """
    if isinstance(error, ServiceUnavailable | SessionExpired):
        return CONNECTION_TRIES
    if isinstance(error, ConstraintError) or error.is_retryable():
        return CONFLICT_TRIES
    return UNKNOWN_TRIES if isinstance(error, Neo4jError) and error.code == UNKNOWN else 1


def _key(partition: Partition) -> dict[str, Any]:
    return {"workspace": partition.workspace, "generation": partition.generation}


async def _run(transaction: AsyncTransaction, statement: str, **parameters: Any) -> Records:
    # The statements are the constants of cypher.py, which the driver's type asks to be literals.
    result = await transaction.run(statement, parameters)  # type: ignore[arg-type]
    return await result.data()


async def _sizes_of_ends(
    transaction: AsyncTransaction, partition: Partition, rows: Sequence[Mapping[str, Any]]
) -> dict[str, int]:
    """Return the number of relations, tombstones too, of each end that exists."""
    names = sorted({name for row in rows for name in (row["source"], row["target"])})
    records = await _run(transaction, cypher.ENDS, **_key(partition), names=names)
    return {record["name"]: record["relations"] for record in records}
