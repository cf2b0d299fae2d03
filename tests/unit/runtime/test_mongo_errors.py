"""What MongoDB's driver raises in an election, an outage or a refusal, in our words; and what no
address can loosen.
"""

from collections.abc import Mapping
from typing import Any

import pytest
from pymongo import ReadPreference
from pymongo.errors import (
    AutoReconnect,
    BulkWriteError,
    ConnectionFailure,
    CursorNotFound,
    ExecutionTimeout,
    NetworkTimeout,
    NotPrimaryError,
    OperationFailure,
    PyMongoError,
    ServerSelectionTimeoutError,
    WaitQueueTimeoutError,
    WriteConcernError,
    WriteError,
    WTimeoutError,
)

from runtime.errors import ConfigurationError, Unavailable
from runtime.stores.documents.mongo.store import MongoRows
from runtime.stores.documents.mongo.writes import answered


def bulk(writes: list[Mapping[str, Any]], concerns: list[Mapping[str, Any]]) -> BulkWriteError:
    return BulkWriteError({"writeErrors": writes, "writeConcernErrors": concerns})


async def translated(error: PyMongoError) -> BaseException:
    """What a caller of the store sees of it."""
    with pytest.raises(Exception) as error_info:
        async with answered(60):
            raise error
    return error_info.value


@pytest.mark.parametrize(
    "error",
    [
        AutoReconnect("connection closed"),
        ConnectionFailure("refused"),
        NetworkTimeout("silent"),
        ServerSelectionTimeoutError("no primary"),
        WaitQueueTimeoutError("all connections are taken"),
        NotPrimaryError("not primary", {"code": 10107}),
        ExecutionTimeout("took too long", 50),
        WTimeoutError("no majority", 64),
        WriteConcernError("no majority", 64),
        WriteError("primary stepped down", 189),
        CursorNotFound("gone", 43),
        *(
            OperationFailure("an election", code)
            for code in (91, 189, 10107, 11600, 11602, 13435, 13436)
        ),
        OperationFailure("a write conflict", 112),
        bulk([], [{"code": 64, "errmsg": "no majority"}]),
        bulk([{"index": 0, "code": 189}], []),
        bulk([{"index": 0, "code": 11000}, {"index": 1, "code": 10107}], []),
    ],
    ids=lambda error: f"{type(error).__name__}-{getattr(error, 'code', '')}",
)
async def test_what_an_election_or_an_outage_raises_passes(error: PyMongoError) -> None:
    assert isinstance(await translated(error), Unavailable)


@pytest.mark.parametrize("code", [13, 18])
async def test_a_refused_user_is_a_matter_of_settings(code: int) -> None:
    assert isinstance(
        await translated(OperationFailure("not allowed to, lightstream:hunter2", code)),
        ConfigurationError,
    )
    assert "hunter2" not in str(await translated(OperationFailure("lightstream:hunter2", code)))


@pytest.mark.parametrize(
    "error", [OperationFailure("bad query", 2), bulk([{"index": 0, "code": 11000}], [])]
)
async def test_what_no_repetition_mends_is_left_as_it_is(error: PyMongoError) -> None:
    """The second is told apart further out: another writer was faster."""
    assert await translated(error) is error


async def test_no_address_loosens_what_is_written_and_read() -> None:
    loose = "?w=1&journal=false&readConcernLevel=local&readPreference=nearest&retryWrites=true"
    rows = MongoRows(f"mongodb://one,two,three/{loose}", "lightstream")
    database = rows._database
    assert (database.write_concern.document["w"], database.write_concern.document["j"]) == (
        "majority",
        True,
    )
    assert database.read_concern.level == "majority"
    assert database.read_preference == ReadPreference.PRIMARY
    await rows.close()
