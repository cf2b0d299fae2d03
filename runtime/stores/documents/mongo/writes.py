"""Writing many documents to MongoDB at once, each atomically, and its errors in our words."""

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable, Collection, Mapping, Sequence
from contextlib import asynccontextmanager
from typing import Any

from motor.motor_asyncio import AsyncIOMotorCollection
from pymongo import ReplaceOne, UpdateOne
from pymongo.errors import BulkWriteError, ConnectionFailure, OperationFailure, PyMongoError

from runtime.errors import ConfigurationError, Unavailable

Document = dict[str, Any]
Write = ReplaceOne[Document] | UpdateOne
Settled = Callable[[Sequence[str]], Awaitable[Collection[str]]]
"""A function that returns, of the ids whose writes were refused, those that need no write any
more.
"""

ROUNDS = 10
"""Tries of a write that conflicts with other writers. Two suffice unless rows are deleted at the
same time.
"""

_DUPLICATE = 11000
_DENIED = {13, 18}
_PASSING = {
    6,
    7,
    43,
    50,
    64,
    89,
    91,
    100,
    112,
    134,
    175,
    189,
    216,
    237,
    262,
    365,
    9001,
    10107,
    11600,
    11602,
    13388,
    13435,
    13436,
    14031,
}
"""Codes of failures that pass: elections, shutdowns, lost cursors, limits of time, conflicts of
writes, full disks. Source: error_codes.yml in the source of MongoDB.
"""


async def _none(_: Sequence[str]) -> Collection[str]:
    """Return no id: every refused write is still wanted."""
    return ()


async def write_all(
    collection: AsyncIOMotorCollection[Document],
    writes: Mapping[str, Write],
    *,
    limit: float,
    settled_writes: Settled = _none,
) -> None:
    """Do all these upserts, given by `_id`, whatever other writers do meanwhile. `limit`: seconds
    for one command.

    An upsert that finds no document adds one; when another writer was faster it is refused and
    tried again. Raises `Unavailable` when the server does not answer or a write was refused
    `ROUNDS` times.
    """
    writes_left = dict(writes)
    for _ in range(ROUNDS):
        writes_left = {
            row_id: writes_left[row_id]
            for row_id in await refused_writes(collection, writes_left, limit)
        }
        for row_id in await settled_writes(list(writes_left)) if writes_left else ():
            del writes_left[row_id]
        if not writes_left:
            return
    raise Unavailable(
        f"{len(writes_left)} documents of {collection.name} kept changing under a write"
    )


async def refused_writes(
    collection: AsyncIOMotorCollection[Document], writes: Mapping[str, Write], limit: float
) -> list[str]:
    """Do the writes once; return the ids of those refused because another writer added the
    document.
    """
    try:
        async with answered(limit):
            await collection.bulk_write(list(writes.values()), ordered=False)
    except BulkWriteError as error:
        ids = list(writes)
        faults = error.details["writeErrors"]
        if any(fault["code"] != _DUPLICATE for fault in faults):
            raise
        return [ids[fault["index"]] for fault in faults]
    return []


@asynccontextmanager
async def answered(limit: float) -> AsyncGenerator[None, None]:
    """Around one command: raises `Unavailable` when it fails for a while or takes longer than
    `limit` seconds.

    The driver's own timeout begins when one of its threads takes the command up; behind a server
    that does not answer commands queue for a thread, so the whole wait needs a limit too. A
    BulkWriteError is left as it is when the server has done its part: refused some writes, each for
    a reason of its own.
    """
    try:
        async with asyncio.timeout(limit):
            yield
    except TimeoutError as error:
        raise Unavailable(f"MongoDB did not answer within {limit:g} s") from error
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
    """Return the error to raise when the server does not answer; its message names hosts, never a
    password.
    """
    return Unavailable(f"MongoDB does not answer: {error!s:.300}")
