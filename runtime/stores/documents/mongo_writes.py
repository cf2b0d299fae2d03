"""Writing many documents to MongoDB at once, each atomically, and its errors in our words."""

from collections.abc import Awaitable, Callable, Collection, Generator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

from motor.motor_asyncio import AsyncIOMotorCollection
from pymongo import ReplaceOne, UpdateOne
from pymongo.errors import BulkWriteError, ConnectionFailure, OperationFailure, PyMongoError

from runtime.errors import ConfigurationError, Unavailable

Document = dict[str, Any]
Write = ReplaceOne[Document] | UpdateOne
Settled = Callable[[Sequence[str]], Awaitable[Collection[str]]]
"""Of the ids whose writes were refused, those that need no write any more."""

ROUNDS = 10
"""How often a write is tried that others get in the way of. Two suffice unless rows are deleted at the same time."""

_DUPLICATE = 11000
_DENIED = {13, 18}
_PASSING = {
    6, 7, 43, 50, 64, 89, 91, 100, 112, 189, 216, 262, 365, 9001, 10107, 11600, 11602, 13388, 13435, 13436, 14031,
}  # fmt: skip
"""Codes of failures that pass: elections, shutdowns, lost cursors, exceeded times, conflicts of writes, full disks.
Source: error_codes.yml of MongoDB 7."""


async def _none(_: Sequence[str]) -> Collection[str]:
    """Every refused write is still wanted."""
    return ()


async def write_all(
    collection: AsyncIOMotorCollection[Document], writes: Mapping[str, Write], settled: Settled = _none
) -> None:
    """Do all these upserts, given by `_id`, whatever other writers do meanwhile. No writes: nothing happens.

    An upsert that finds no document adds one; when another writer was faster it is refused and tried again.
    Raises `Unavailable` when the server does not answer or a write was refused `ROUNDS` times.
    """
    left = dict(writes)
    for _ in range(ROUNDS):
        if left:
            left = {id_: left[id_] for id_ in await _refused(collection, left)}
        for id_ in await settled(list(left)) if left else ():
            del left[id_]
        if not left:
            return
    raise Unavailable(f"{len(left)} documents of {collection.name} kept changing under a write")


async def _refused(collection: AsyncIOMotorCollection[Document], writes: Mapping[str, Write]) -> list[str]:
    """Do the writes once; the ids of those that another writer's new document kept out."""
    try:
        with translated():
            await collection.bulk_write(list(writes.values()), ordered=False)
    except BulkWriteError as error:
        ids = list(writes)
        return [ids[fault["index"]] for fault in error.details["writeErrors"]]
    return []


@contextmanager
def translated() -> Generator[None, None, None]:
    """The driver's errors in our words. A BulkWriteError that leaves it has refused duplicates and nothing else."""
    try:
        yield
    except BulkWriteError as error:
        codes = {fault["code"] for fault in error.details["writeErrors"]}
        if error.timeout or error.details["writeConcernErrors"] or codes & _PASSING:
            raise _unavailable(error) from error
        raise
    except OperationFailure as error:
        if error.timeout or error.code in _PASSING:
            raise _unavailable(error) from error
        if error.code in _DENIED:
            raise ConfigurationError(f"MongoDB refuses this user (code {error.code})") from error
        raise
    except ConnectionFailure as error:
        raise _unavailable(error) from error


def _unavailable(error: PyMongoError) -> Unavailable:
    """What to raise when the server does not answer; its message names hosts, never a password."""
    return Unavailable(f"MongoDB does not answer: {str(error):.300}")
