"""Rows in MongoDB: the document store of production.

A row is one document: `_id` (workspace, generation and key), `space` (the first two), `fields`
(what the server compares: the indexed fields and all whole numbers of the row) and `body` (the row
encoded, so that keys with dots and dollars survive). Where the two differ `fields` is right:
counters are increased there. Nothing here needs a transaction or a replica set; every write changes
its documents one by one, each atomically.
"""

from collections.abc import Collection, Mapping, Sequence
from secrets import token_hex
from typing import TypeVar

from motor.motor_asyncio import AsyncIOMotorClient, AsyncIOMotorCollection
from pymongo import ASCENDING, DESCENDING, ReplaceOne, UpdateOne
from pymongo.errors import PyMongoError

from contracts.graph import Partition
from runtime.batching import batched
from runtime.errors import ConfigurationError, Unavailable
from runtime.stores.documents import schema
from runtime.stores.documents.mongo.documents import (
    condition_of,
    document_of,
    end_of,
    having,
    ids_of,
    index_of,
    partition_text,
    range_of,
    rows_of,
    values_of,
)
from runtime.stores.documents.mongo.writes import (
    ROUNDS,
    Document,
    Write,
    answered,
    refused_writes,
    write_all,
)
from runtime.stores.documents.port import (
    INDEXES,
    MOST_NOTES,
    OBSOLETE,
    Change,
    Parser,
    Row,
    Table,
    Value,
    Where,
)
from runtime.stores.documents.row_json import checked_key, indexed_fields, version_field

BATCH = 1000
"""Documents in one command."""

RANGES = 100
"""Ranges of keys in one query."""


T = TypeVar("T")


class MongoRows:
    """`Rows` in one MongoDB database.

    Writes are acknowledged by the journals of a majority, and only such writes are read: a revision
    that somebody saw is never rolled back and given again. `timeout`: seconds for one command,
    retries of the driver included, and as long for the wait until one of the driver's threads is
    free.
    """

    def __init__(self, uri: str, database: str, *, timeout: float = 10.0) -> None:
        self._limit = 2 * timeout
        milliseconds = int(timeout * 1000)
        try:
            self._client: AsyncIOMotorClient[Document] = AsyncIOMotorClient(
                uri,
                appname="lightstream",
                w="majority",
                journal=True,
                readConcernLevel="majority",
                readPreference="primary",
                timeoutMS=milliseconds,
                serverSelectionTimeoutMS=milliseconds,
                connectTimeoutMS=milliseconds,
            )
            self._database = self._client[database]
        except (PyMongoError, ValueError):
            # Not even as a cause: the driver's message may quote the URI with its password.
            raise ConfigurationError(
                "the URI or the database name of MongoDB cannot be used"
            ) from None

    async def prepare(self) -> None:
        """Make the indexes and record the schema's version; MongoDB makes collections by itself."""
        await schema.refuse_newer(self)  # before anything of a newer program is touched
        for name, fields in INDEXES.items():
            for field in fields:
                async with answered(self._limit):
                    await self._database[name].create_index(index_of(field))
        for name in OBSOLETE:
            async with answered(self._limit):
                await self._database.drop_collection(name)
        await schema.enter(self)

    async def missing(self) -> list[str]:
        """Return the indexes that the database does not have."""
        problems: list[str] = []
        for name, fields in INDEXES.items():
            async with answered(self._limit):
                indexed_fields = [
                    index["key"]
                    for index in (await self._database[name].index_information()).values()
                ]
            problems += [
                f"index of {name} by {field} is not there"
                for field in fields
                if index_of(field) not in indexed_fields
            ]
        return problems

    async def ping(self) -> None:
        """Look for a document that does not exist."""
        async with answered(self._limit):
            await self._database["documents"].find_one({"_id": ""}, {"_id": 1})

    async def get(self, table: Table, keys: Collection[str]) -> dict[str, Row]:
        """Return the rows that exist among `keys`, a thousand a command."""
        rows: dict[str, Row] = {}
        for batch in batched(keys, BATCH):
            documents = await self._matching(table, {"_id": {"$in": ids_of(table, batch)}})
            rows.update(rows_of(table, documents))
        return rows

    async def get_parsed(
        self, table: Table, keys: Collection[str], parser: Parser[T]
    ) -> dict[str, T]:
        """Return what the parser makes of rows, which are decoded each time."""
        rows = await self.get(table, keys)
        return {key: parser.parse(row) for key, row in rows.items()}

    async def existing(self, table: Table, keys: Collection[str]) -> set[str]:
        """Return those of `keys` that have a row, a thousand a command."""
        existing_keys: set[str] = set()
        for batch in batched(keys, BATCH):
            ids = dict(zip(ids_of(table, batch), batch, strict=True))
            documents = await self._matching(table, {"_id": {"$in": [*ids]}}, {"_id": 1})
            existing_keys.update(ids[document["_id"]] for document in documents)
        return existing_keys

    async def put(self, table: Table, rows: Mapping[str, Row]) -> None:
        """Replace or add these rows, a thousand a command."""
        for batch in batched(rows.items(), BATCH):
            documents = [document_of(table, key, row) for key, row in batch]
            writes = {
                document["_id"]: ReplaceOne({"_id": document["_id"]}, document, upsert=True)
                for document in documents
            }
            await write_all(self._of(table), writes, limit=self._limit)

    async def put_newer(self, table: Table, rows: Mapping[str, Row], field: str) -> None:
        """Replace or add those rows whose stored `field` is not greater.

        A greater one makes the condition fail; the server then tries to add a second document and
        is refused. The same refusal meets the slower of two who add a row, so what stands there is
        read before trying again.
        """
        guards = {
            ids_of(table, [key])[0]: version_field(key, row, field) for key, row in rows.items()
        }

        async def outdone(ids: Sequence[str]) -> list[str]:
            greater = {
                "_id": {"$in": ids},
                f"fields.{field}": {"$gt": min(guards[row_id] for row_id in ids)},
            }
            documents = await self._matching(table, greater, {f"fields.{field}": 1})
            return [
                document["_id"]
                for document in documents
                if document["fields"][field] > guards[document["_id"]]
            ]

        for batch in batched(rows.items(), BATCH):
            writes: dict[str, Write] = {}
            for document in (document_of(table, key, row) for key, row in batch):
                not_greater = {
                    "_id": document["_id"],
                    f"fields.{field}": {"$not": {"$gt": guards[document["_id"]]}},
                }
                writes[document["_id"]] = ReplaceOne(not_greater, document, upsert=True)
            await write_all(self._of(table), writes, limit=self._limit, settled_writes=outdone)

    async def update(self, table: Table, keys: Collection[str], change: Change) -> dict[str, Row]:
        """Read, change and write, each document only if its `stamp` is the one that was read; else
        once more.
        """
        written_rows: dict[str, Row] = {}
        keys_left = list(dict.fromkeys(keys))
        for _ in range(ROUNDS):
            if not keys_left:
                return written_rows
            stamps, stored_rows = await self._stamped(table, keys_left)
            rows = {key: row for key, row in change(stored_rows).items() if key in keys_left}
            documents = {
                key: document_of(table, key, row) | {"stamp": token_hex(8)}
                for key, row in rows.items()
            }
            writes = {
                document["_id"]: ReplaceOne(
                    {"_id": document["_id"], "stamp": stamps.get(key)}, document, upsert=True
                )
                for key, document in documents.items()
            }
            refused_ids = (
                set(await refused_writes(self._of(table), writes, self._limit))
                if writes
                else set[str]()
            )
            written_rows |= {
                key: rows[key]
                for key, document in documents.items()
                if document["_id"] not in refused_ids
            }
            keys_left = [
                key for key, document in documents.items() if document["_id"] in refused_ids
            ]
        raise Unavailable(f"{len(keys_left)} documents of {table.name} kept changing under a write")

    async def append(
        self, table: Table, notes: Mapping[str, str], rows: Mapping[str, Row]
    ) -> dict[str, Row]:
        """Store, count up, a thousand a command, then read."""
        await self.put(table, rows)
        of_counter = {"space": partition_text(table), "body": "{}"}
        for batch in batched(notes.items(), BATCH):
            writes: dict[str, Write] = {}
            for key, note in batch:
                one_more = {"fields.notes": {"$each": [note], "$slice": -MOST_NOTES}}
                update = {"$inc": {"fields.n": 1}, "$push": one_more, "$setOnInsert": of_counter}
                row_id = ids_of(table, [checked_key(key)])[0]
                writes[row_id] = UpdateOne({"_id": row_id}, update, upsert=True)
            await write_all(self._of(table), writes, limit=self._limit)
        return await self.get(table, notes)

    async def _stamped(
        self, table: Table, keys: Sequence[str]
    ) -> tuple[dict[str, str], dict[str, Row]]:
        """Return the stamps and the rows of the documents that exist, by key."""
        documents = await self._matching(table, {"_id": {"$in": ids_of(table, keys)}})
        rows = rows_of(table, documents)
        stamps = {
            key: document["stamp"]
            for (key, _), document in zip(rows, documents, strict=True)
            if "stamp" in document
        }
        return stamps, dict(rows)

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
        # All rows by key: no index of a field has that order, and some tables have none.
        condition = condition_of(table, where) if where or order else range_of(table)
        async with answered(self._limit):
            cursor = self._of(table).find(condition, sort=sorting, skip=skip, limit=limit)
            return rows_of(table, await cursor.to_list(None))

    async def values(
        self, table: Table, field: str, where: Where, keys: Collection[str] | None = None
    ) -> dict[str, Value]:
        """Read the index of the field, or documents by their keys, a thousand a command."""
        indexed_fields(table.name, field, *where)
        condition = condition_of(table, where)
        fields = {f"fields.{field}": 1}
        if keys is None:
            return values_of(table, field, await self._matching(table, condition, fields))
        values: dict[str, Value] = {}
        for batch in batched(keys, BATCH):
            of_keys = {**condition, "_id": {"$in": ids_of(table, batch)}}
            values |= values_of(table, field, await self._matching(table, of_keys, fields))
        return values

    async def count(self, table: Table, by: str, where: Where) -> dict[str, int]:
        """Count by value; rows without the field are left out."""
        indexed_fields(table.name, by, *where)
        condition = {"$and": [condition_of(table, where), having(table, by)]}
        pipeline = [
            {"$match": condition},
            {"$group": {"_id": f"$fields.{by}", "number": {"$sum": 1}}},
        ]
        async with answered(self._limit):
            groups = await self._of(table).aggregate(pipeline).to_list(None)
        return {str(group["_id"]): group["number"] for group in groups}

    async def delete(self, table: Table, keys: Collection[str]) -> None:
        """Remove these rows, a thousand a command."""
        for batch in batched(keys, BATCH):
            async with answered(self._limit):
                await self._of(table).delete_many({"_id": {"$in": ids_of(table, batch)}})

    async def delete_older(
        self, table: Table, keys: Collection[str], field: str, version: int
    ) -> None:
        """Remove these rows under a condition, a thousand a command."""
        for batch in batched(keys, BATCH):
            older_condition = {
                "_id": {"$in": ids_of(table, batch)},
                f"fields.{field}": {"$lt": version},
            }
            async with answered(self._limit):
                await self._of(table).delete_many(older_condition)

    async def scan(self, table: Table, after: str = "", limit: int = 1000) -> list[tuple[str, Row]]:
        """One page, by key."""
        if limit <= 0:  # MongoDB takes 0 for no limit
            return []
        async with answered(self._limit):
            cursor = self._of(table).find(
                range_of(table, after), sort=[("_id", ASCENDING)], limit=limit
            )
            return rows_of(table, await cursor.to_list(None))

    async def under(self, table: Table, prefixes: Collection[str]) -> list[tuple[str, Row]]:
        """Read ranges of `_id`, a hundred a command."""
        rows: list[tuple[str, Row]] = []
        for batch in batched(prefixes, RANGES):
            ranges = [
                {"_id": {"$gt": prefix, "$lt": f"{prefix}\x7f"}} for prefix in ids_of(table, batch)
            ]
            rows += rows_of(table, await self._matching(table, {"$or": ranges}))
        return rows

    async def partitions(self, name: str) -> set[Partition]:
        """Return every partition with a row, found by leaps through the index of `_id`: one short
        query each.
        """
        indexed_fields(name)
        partitions: set[Partition] = set()
        smallest_id = ""
        while True:
            async with answered(self._limit):
                first = await self._database[name].find_one(
                    {"_id": {"$gte": smallest_id}}, {"space": 1}, sort=[("_id", ASCENDING)]
                )
            if first is None:
                return partitions
            workspace, _, generation = first["space"].rpartition("/")
            partitions.add(Partition(workspace, int(generation)))
            smallest_id = end_of(first["space"])

    async def drop(self, table: Table) -> None:
        """Remove the rows batch by batch: one command for all of a large partition would exceed its
        time.
        """
        while True:
            async with answered(self._limit):
                documents = (
                    await self._of(table)
                    .find(range_of(table), {"_id": 1}, limit=BATCH, batch_size=BATCH)
                    .to_list(None)
                )
            if not documents:
                return
            async with answered(self._limit):
                await self._of(table).delete_many(
                    {"_id": {"$in": [document["_id"] for document in documents]}}
                )

    async def close(self) -> None:
        """Close all connections."""
        self._client.close()

    async def _matching(
        self, table: Table, condition: Document, fields: Mapping[str, int] | None = None
    ) -> list[Document]:
        """Return all documents under a condition, or only these fields of them."""
        async with answered(self._limit):
            cursor = self._of(table).find(condition, fields, batch_size=BATCH)
            return await cursor.to_list(None)

    def _of(self, table: Table) -> AsyncIOMotorCollection[Document]:
        """Return the collection of a table."""
        indexed_fields(table.name)
        return self._database[table.name]
