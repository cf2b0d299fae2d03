"""Rows in MongoDB: the document store of production.

A row is one document: `_id` (workspace, generation and key), `space` (the first two), `fields` (what the server
compares: the indexed fields and all whole numbers of the row) and `body` (the row as JSON text, so that keys with
dots and dollars survive). Where the two differ `fields` is right: counters are increased there.
Nothing here needs a transaction or a replica set; every write changes its documents one by one, each atomically.
"""

from collections.abc import Collection, Mapping, Sequence

from motor.motor_asyncio import AsyncIOMotorClient, AsyncIOMotorCollection
from pymongo import ASCENDING, DESCENDING, ReplaceOne, UpdateOne
from pymongo.errors import DuplicateKeyError, PyMongoError

from contracts.graph import Partition
from runtime.batching import batched
from runtime.errors import ConfigurationError, InvalidInput
from runtime.stores.documents import schema
from runtime.stores.documents.mongo.writes import Document, Write, answered, write_all
from runtime.stores.documents.port import INDEXES, Row, Table
from runtime.stores.documents.row_json import (
    Where,
    checked_key,
    checked_swap,
    decode,
    encode,
    indexed_fields,
    indexed_values,
    is_int64,
    is_plain_name,
    version_field,
)

BATCH = 1000
"""Documents in one command."""


class MongoRows:
    """`Rows` in one MongoDB database.

    Writes are acknowledged by the journals of a majority, and only such writes are read: a revision that somebody
    saw is never rolled back and given again. `timeout`: seconds for one command, retries of the driver included,
    and as long for the wait until one of the driver's threads is free.
    """

    def __init__(self, uri: str, database: str, *, timeout: float = 10.0) -> None:
        self._limit = 2 * timeout
        milliseconds = int(timeout * 1000)
        try:
            self._client: AsyncIOMotorClient[Document] = AsyncIOMotorClient(
                uri, appname="lightstream", w="majority", journal=True, readConcernLevel="majority",
                readPreference="primary", timeoutMS=milliseconds, serverSelectionTimeoutMS=milliseconds,
                connectTimeoutMS=milliseconds,
            )  # fmt: skip
            self._database = self._client[database]
        except (PyMongoError, ValueError):
            # Not even as a cause: the driver's message may quote the URI with its password.
            raise ConfigurationError("the URI or the database name of MongoDB cannot be used") from None

    async def prepare(self) -> None:
        """Make the indexes and record the schema's version; MongoDB makes collections by itself."""
        for name, fields in INDEXES.items():
            for field in fields:
                async with answered(self._limit):
                    await self._database[name].create_index(_index(field))
        await schema.enter(self)

    async def missing(self) -> list[str]:
        """Return the indexes that the database does not have."""
        problems: list[str] = []
        for name, fields in INDEXES.items():
            async with answered(self._limit):
                indexed = [index["key"] for index in (await self._database[name].index_information()).values()]
            problems += [f"index of {name} by {field} is not there" for field in fields if _index(field) not in indexed]
        return problems

    async def ping(self) -> None:
        """Look for a document that does not exist."""
        async with answered(self._limit):
            await self._database["documents"].find_one({"_id": ""}, {"_id": 1})

    async def get(self, table: Table, keys: Collection[str]) -> dict[str, Row]:
        """Return the rows that exist among `keys`, a thousand a command."""
        rows: dict[str, Row] = {}
        for batch in batched(keys, BATCH):
            async with answered(self._limit):
                cursor = self._of(table).find({"_id": {"$in": _ids(table, batch)}}, batch_size=BATCH)
                rows.update(_rows(table, await cursor.to_list(None)))
        return rows

    async def put(self, table: Table, rows: Mapping[str, Row]) -> None:
        """Replace or add these rows, a thousand a command."""
        for batch in batched(rows.items(), BATCH):
            documents = [_document(table, key, row) for key, row in batch]
            writes = {it["_id"]: ReplaceOne({"_id": it["_id"]}, it, upsert=True) for it in documents}
            await write_all(self._of(table), writes, limit=self._limit)

    async def put_newer(self, table: Table, rows: Mapping[str, Row], field: str) -> None:
        """Replace or add those rows whose stored `field` is not greater.

        A greater one makes the condition fail; the server then tries to add a second document and is refused. The
        same refusal meets the slower of two who add a row, so what stands there is read before trying again.
        """
        guards = {_ids(table, [key])[0]: version_field(key, row, field) for key, row in rows.items()}

        async def outdone(ids: Sequence[str]) -> list[str]:
            greater = {"_id": {"$in": ids}, f"fields.{field}": {"$gt": min(guards[id_] for id_ in ids)}}
            async with answered(self._limit):
                documents = await self._of(table).find(greater, {f"fields.{field}": 1}, batch_size=BATCH).to_list(None)
            return [it["_id"] for it in documents if it["fields"][field] > guards[it["_id"]]]

        for batch in batched(rows.items(), BATCH):
            writes: dict[str, Write] = {}
            for it in (_document(table, key, row) for key, row in batch):
                not_greater = {"_id": it["_id"], f"fields.{field}": {"$not": {"$gt": guards[it["_id"]]}}}
                writes[it["_id"]] = ReplaceOne(not_greater, it, upsert=True)
            await write_all(self._of(table), writes, limit=self._limit, settled=outdone)

    async def swap(self, table: Table, key: str, expected: int | None, row: Row) -> bool:
        """Compare and set in one command."""
        document = _document(table, key, checked_swap(key, expected, row))
        async with answered(self._limit):
            if expected is not None:
                same = {"_id": document["_id"], "fields.rev": expected}
                return (await self._of(table).replace_one(same, document)).matched_count == 1
            try:
                await self._of(table).insert_one(document)
            except DuplicateKeyError:
                return False
            return True

    async def increment(self, table: Table, keys: Collection[str]) -> dict[str, int]:
        """Count up, a thousand a command, then read."""
        counters = dict.fromkeys(map(checked_key, keys))
        more = {"$inc": {"fields.n": 1}, "$setOnInsert": {"space": _partition(table), "body": "{}"}}
        for batch in batched(counters, BATCH):
            writes = {it: UpdateOne({"_id": it}, more, upsert=True) for it in _ids(table, batch)}
            await write_all(self._of(table), writes, limit=self._limit)
        return {key: row["n"] for key, row in (await self.get(table, counters)).items()}

    async def find(
        self,
        table: Table,
        where: Where,
        *,
        order: str = "",
        descending: bool = False,
        skip: int = 0,
        limit: int = 0,
    ) -> list[tuple[str, Row]]:
        """Filter, sort and cut in the database. Rows without the field `order` come first."""
        indexed_fields(table.name, *where, *filter(None, [order]))
        way = DESCENDING if descending else ASCENDING
        sorting = [*((f"fields.{name}", way) for name in filter(None, [order])), ("_id", way)]
        async with answered(self._limit):
            cursor = self._of(table).find(_condition(table, where), sort=sorting, skip=skip, limit=limit)
            return _rows(table, await cursor.to_list(None))

    async def count(self, table: Table, by: str, where: Where) -> dict[str, int]:
        """Count by value; rows without the field are left out."""
        indexed_fields(table.name, by, *where)
        present = {"$and": [_condition(table, where), {f"fields.{by}": {"$exists": True}}]}
        pipeline = [{"$match": present}, {"$group": {"_id": f"$fields.{by}", "number": {"$sum": 1}}}]
        async with answered(self._limit):
            groups = await self._of(table).aggregate(pipeline).to_list(None)
        return {str(group["_id"]): group["number"] for group in groups}

    async def delete(self, table: Table, keys: Collection[str]) -> None:
        """Remove these rows, a thousand a command."""
        for batch in batched(keys, BATCH):
            async with answered(self._limit):
                await self._of(table).delete_many({"_id": {"$in": _ids(table, batch)}})

    async def scan(self, table: Table, after: str = "", limit: int = 1000) -> list[tuple[str, Row]]:
        """One page, by key."""
        if limit <= 0:  # MongoDB takes 0 for no limit
            return []
        async with answered(self._limit):
            cursor = self._of(table).find(_range(table, after), sort=[("_id", ASCENDING)], limit=limit)
            return _rows(table, await cursor.to_list(None))

    async def partitions(self, name: str) -> set[Partition]:
        """Return every partition with a row, found by leaps through the index of `_id`: one short query each."""
        indexed_fields(name)
        partitions: set[Partition] = set()
        least = ""
        while True:
            async with answered(self._limit):
                first = await self._database[name].find_one(
                    {"_id": {"$gte": least}}, {"space": 1}, sort=[("_id", ASCENDING)]
                )
            if first is None:
                return partitions
            workspace, _, generation = first["space"].rpartition("/")
            partitions.add(Partition(workspace, int(generation)))
            least = _end(first["space"])

    async def drop(self, table: Table) -> None:
        """Remove the rows batch by batch: one command for all of a large partition would exceed its time."""
        while True:
            async with answered(self._limit):
                documents = (
                    await self._of(table).find(_range(table), {"_id": 1}, limit=BATCH, batch_size=BATCH).to_list(None)
                )
            if not documents:
                return
            async with answered(self._limit):
                await self._of(table).delete_many({"_id": {"$in": [document["_id"] for document in documents]}})

    async def close(self) -> None:
        """Close all connections."""
        self._client.close()

    def _of(self, table: Table) -> AsyncIOMotorCollection[Document]:
        """Return the collection of a table."""
        indexed_fields(table.name)
        return self._database[table.name]


def _index(field: str) -> list[tuple[str, int]]:
    """Return the keys of the index that `find` uses for a field."""
    return [("space", ASCENDING), (f"fields.{field}", ASCENDING), ("_id", ASCENDING)]


def _partition(table: Table) -> str:
    """Return the beginning of every `_id` of a partition, without the last slash."""
    workspace, generation = table.partition.workspace, table.partition.generation
    if "/" in workspace:
        raise InvalidInput(f"{workspace!r:.80} is no workspace: it has a slash")
    return f"{workspace}/{generation}"


def _end(partition: str) -> str:
    """Return the least text after every `_id` of a partition: "0" is the character after "/"."""
    return f"{partition}0"


def _ids(table: Table, keys: Collection[str]) -> list[str]:
    """Return the `_id` of each key."""
    partition = _partition(table)
    return [f"{partition}/{key}" for key in keys]


def _range(table: Table, after: str = "") -> Document:
    """Return the condition for all rows of a partition with keys greater than `after`."""
    partition = _partition(table)
    return {"_id": {"$gt": f"{partition}/{after}", "$lt": _end(partition)}}


def _condition(table: Table, where: Where) -> Document:
    """Return the condition for the rows of a partition that match `where`."""
    fields = {f"fields.{name}": {"$in": value} if isinstance(value, list) else value for name, value in where.items()}
    return {"space": _partition(table), **fields}


def _document(table: Table, key: str, row: Row) -> Document:
    """Return the document that is stored for a row."""
    values = zip(indexed_fields(table.name), indexed_values(table, key, row), strict=True)
    fields = {name: value for name, value in values if value is not None}
    fields |= {name: value for name, value in row.items() if is_int64(value) and is_plain_name(name)}
    return {"_id": _ids(table, [key])[0], "space": _partition(table), "fields": fields, "body": encode(key, row)}


def _rows(table: Table, documents: Sequence[Document]) -> list[tuple[str, Row]]:
    """Return the keys and rows of stored documents."""
    skip = len(_partition(table)) + 1
    return [(document["_id"][skip:], decode(document["body"]) | document["fields"]) for document in documents]
