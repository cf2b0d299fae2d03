"""Messages that cannot be read: each is set aside or given back by itself, and its siblings are
handled.
"""

from collections.abc import Sequence
from typing import Any

import orjson
import pytest

from contracts.events import DocumentAdded, Event, StageFailed
from contracts.graph import Generations
from contracts.subjects import token
from runtime.bus.codec import encode
from runtime.bus.port import Delivery
from runtime.errors import Unavailable
from tests.support.events import added, chunked, document, sealed
from tests.support.processors import ProcessorBench, bench

SUBJECT = "kb.v1.w.d.DocumentAdded"


def changed(**attributes: Any) -> bytes:
    """A sound DocumentAdded of document `d` with other attributes; None takes one away."""
    raw = orjson.loads(encode(sealed(added("d"), id="bad"))) | attributes
    return orjson.dumps({name: value for name, value in raw.items() if value is not None})


UNREADABLE: dict[str, bytes] = {
    "not JSON": b"{",
    "not UTF-8": b'{"id": "\xff"}',
    "nothing": b"",
    "half a surrogate pair": b'{"id": "\\ud800"}',
    "a list": b"[]",
    "very deep": b"[" * 100_000,
    "no attributes": b"{}",
    "no id": changed(id=None),
    "an empty id": changed(id=""),
    "no source": changed(source=None),
    "no type": changed(type=None),
    "no workspace": changed(workspace=None),
    "another version of CloudEvents": changed(specversion="0.3"),
    "another kind of content": changed(datacontenttype="text/xml"),
    "a time without a zone": changed(time="2026-03-01T12:00:00"),
    "a type of somebody else": changed(type="com.example.Added"),
    "a type nobody knows": changed(type="lightstream.DocumentDreamt.v1"),
    "version nought": changed(type="lightstream.DocumentAdded.v0"),
    "the type of another subject": changed(
        type="lightstream.DocumentDeleted.v1", data={"document_id": "d"}
    ),
    "another workspace": changed(workspace="w2"),
    "a workspace in encoded form": changed(workspace="x-secret"),
    "another document": changed(data={"document_id": "e", "text": "text"}),
    "no data": changed(data=None),
    "data that is no object": changed(data=[1]),
    "a body without its document": changed(data={"text": "text"}),
    "two texts": changed(
        data={"document_id": "d", "text": "t", "blob": {"sha256": "0" * 64, "size": 1, "parts": 1}}
    ),
}


def table_with(*bodies: bytes, subject: str = SUBJECT) -> ProcessorBench:
    """The bodies between two sound documents, `before` and `after`."""

    async def handle(
        batch: Sequence[Delivery[Any]], _: Generations, /
    ) -> Sequence[Sequence[Event]]:
        assert all(isinstance(delivery.event, DocumentAdded) for delivery in batch)
        return [[chunked(document(delivery.event.aggregate_id), "text")] for delivery in batch]

    table = bench(handle)
    table.append(sealed(added("before"), id="before"))
    for number, body in enumerate(bodies):
        table.raw(body, subject, id=f"bad-{number}")
    table.append(sealed(added("after"), id="after"))
    return table


def handled(table: ProcessorBench) -> set[str]:
    return {event.data.aggregate_id for event in table.published("ChunksCreated")}


@pytest.mark.parametrize("body", UNREADABLE.values(), ids=UNREADABLE.keys())
async def test_what_cannot_be_read_is_kept_raw_and_its_siblings_are_handled(body: bytes) -> None:
    table = table_with(body)
    await table.deliver()
    assert handled(table) == {"before", "after"}
    assert [raw for raw, _ in table.log.dead.values()] == [body]
    assert table.unacknowledged == []
    assert table.consumer.delays == []


async def test_a_batch_of_nothing_but_unreadable_messages_is_set_aside_message_by_message() -> None:
    table = table_with(*UNREADABLE.values())
    await table.deliver()
    assert handled(table) == {"before", "after"}
    assert len(table.log.dead) == len(UNREADABLE)
    assert table.unacknowledged == []


@pytest.mark.parametrize(
    "name",
    [
        "no type",
        "a type nobody knows",
        "a body without its document",
        "another document",
        "no data",
        "not JSON",
    ],
)
async def test_what_cannot_be_read_fails_the_document_its_subject_names(name: str) -> None:
    table = table_with(UNREADABLE[name])
    await table.deliver()
    (event,) = table.published("StageFailed")
    assert isinstance(event.data, StageFailed)
    assert (event.workspace, event.data.document_id, event.data.document) == ("w", "d", None)
    assert (event.data.cause_type, event.data.retry_may_help) == ("DocumentAdded", False)


async def test_the_reason_names_what_is_wrong_and_not_what_stood_there() -> None:
    table = table_with(changed(data={"document_id": "d", "text": {"password": "hunter2"}}))
    await table.deliver()
    ((_, reason),) = table.log.dead.values()
    assert "text" in reason
    assert "hunter2" not in reason
    assert "hunter2" not in str(table.published("StageFailed")[0].data)


async def test_a_message_cannot_fail_a_document_of_another_subject() -> None:
    table = table_with(changed(subject="victim", data={}))
    await table.deliver()
    assert [event.data.aggregate_id for event in table.published("StageFailed")] == ["d"]


async def test_a_message_cannot_fail_a_document_of_another_workspace() -> None:
    table = table_with(UNREADABLE["another workspace"])
    await table.deliver()
    assert table.published("StageFailed") == []


async def test_the_long_name_of_a_document_is_taken_from_the_event_when_its_subject_agrees() -> (
    None
):
    name = "An Essay.pdf"
    subject = "kb.v1.w.x-" + "0" * 32 + ".DocumentAdded"
    sound = sealed(added(name), id="bad")
    raw = orjson.loads(encode(sound)) | {"data": {}}
    table = table_with()
    table.raw(orjson.dumps(raw), f"kb.v1.w.{token(name)}.DocumentAdded", id="agrees")
    table.raw(orjson.dumps(raw), subject, id="differs")
    await table.deliver()
    names = [event.data.aggregate_id for event in table.published("StageFailed")]
    assert name in names
    assert names.count(name) == 1


async def test_nothing_is_said_of_a_workspace_that_only_a_hash_names() -> None:
    table = table_with(b"{", subject="kb.v1.x-00000000000000000000000000000000.d.DocumentAdded")
    await table.deliver()
    assert len(table.log.dead) == 1
    assert table.published("StageFailed") == []
    assert table.unacknowledged == []


async def test_an_event_of_newer_code_is_given_back_until_the_newer_code_is_there() -> None:
    table = table_with(changed(type="lightstream.DocumentAdded.v2", data={"shape": "unknown yet"}))
    for _ in range(8):
        await table.deliver()
    assert handled(table) == {"before", "after"}
    assert table.unacknowledged == [2]
    assert (len(table.consumer.delays), table.log.dead, table.published("StageFailed")) == (
        8,
        {},
        [],
    )


async def test_an_unreadable_message_waits_while_its_failure_cannot_be_said() -> None:
    table = table_with(b"{")
    table.log.refuse["StageFailed"] = Unavailable("the log is full")
    await table.deliver()
    assert handled(table) == {"before", "after"}
    assert table.unacknowledged == [2]
    table.log.refuse.clear()
    await table.deliver()
    assert table.unacknowledged == []
    assert len(table.published("StageFailed")) == 1
