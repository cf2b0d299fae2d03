"""The contract of the bus, the same in memory and on a real server: the log, the blobs, pointers
and values.
"""

import asyncio

import pytest

from contracts import subjects
from contracts.events import DocumentAdded, DocumentDeleted
from contracts.topology import declared_stream
from runtime.bus.codec import decode
from runtime.bus.port import Message
from runtime.errors import Poison
from tests.support.buses import Bus, numbered
from tests.support.events import added, sealed

pytestmark = pytest.mark.asyncio(loop_scope="module")


async def filled(bus: Bus, *abouts: str) -> None:
    for number, about in enumerate(abouts, 1):
        assert await bus.log.publish(numbered(number, about)) == number


async def pages(bus: Bus, after: int = 0, *filters: str, page: int = 500) -> list[list[Message]]:
    return [result async for result in bus.log.read(after, filters, page=page)]


async def sequences(bus: Bus, after: int = 0, *filters: str, page: int = 500) -> list[int]:
    return [
        message.sequence
        for result in await pages(bus, after, *filters, page=page)
        for message in result
    ]


async def test_an_event_is_appended_at_the_end_and_its_place_is_told(bus: Bus) -> None:
    await filled(bus, "a", "b", "a")
    assert await bus.log.last_sequence() == 3


async def test_an_id_that_was_seen_before_is_not_appended_again(bus: Bus) -> None:
    await filled(bus, "a", "b")
    assert await bus.log.publish(numbered(1, "a")) == 1
    assert await bus.log.publish(numbered(2, "b", track_id="of the second attempt")) == 2
    assert await bus.log.last_sequence() == 2


async def test_an_id_stands_for_one_event_on_each_subject(bus: Bus) -> None:
    """Publishers that number what they do lose nothing: not among each other, not among
    documents.
    """
    envelopes = [
        numbered(1, "a", id="1"),
        numbered(1, "b", id="1"),
        sealed(added("a"), id="1", workspace="other"),
        sealed(DocumentDeleted(document_id="a"), id="1"),
    ]
    assert [await bus.log.publish(envelope) for envelope in envelopes] == [1, 2, 3, 4]
    assert [await bus.log.publish(envelope) for envelope in envelopes] == [1, 2, 3, 4]
    assert await bus.log.last_sequence() == 4


async def test_another_text_under_the_same_id_is_another_event(bus: Bus) -> None:
    first = await bus.log.publish(numbered(1, id="1"))
    assert await bus.log.publish(numbered(2, id="1")) == first + 1
    assert await bus.log.publish(numbered(1, id="1")) == first


async def test_an_id_that_another_publisher_took_before_stops_nothing(bus: Bus) -> None:
    deletion = sealed(DocumentDeleted(document_id="a"), id="deletion")
    await bus.occupy(deletion)
    assert await bus.log.publish(deletion) == 2
    assert await bus.log.newest("w", "a", "DocumentDeleted") is not None


async def test_many_publishers_at_once_get_a_place_each(bus: Bus) -> None:
    places = await asyncio.gather(*(bus.log.publish(numbered(n, f"d{n % 7}")) for n in range(100)))
    assert sorted(places) == list(range(1, 101))


async def test_an_event_larger_than_the_log_takes_is_poison(bus: Bus) -> None:
    limit = declared_stream("KB_EVENTS").max_msg_size
    for size in (limit, 9 * 1024 * 1024):
        with pytest.raises(Poison, match="more than"):
            await bus.log.publish(sealed(added("d", "x" * size)))
    assert await bus.log.last_sequence() == 0


async def test_an_empty_log_ends_at_once(bus: Bus) -> None:
    assert await bus.log.last_sequence() == 0
    assert await pages(bus) == []


async def test_the_log_is_read_in_order_and_whole(bus: Bus) -> None:
    await filled(bus, *(f"d{n % 3}" for n in range(25)))
    read = await pages(bus, page=10)
    assert [len(page) for page in read] == [10, 10, 5]
    messages = [message for page in read for message in page]
    assert [message.sequence for message in messages] == list(range(1, 26))
    texts = [decode(message.data, message.subject).data.text for message in messages]  # type: ignore[attr-defined]
    assert texts == [f"text {n}" for n in range(1, 26)]


async def test_the_log_is_read_from_behind_a_position(bus: Bus) -> None:
    await filled(bus, *"abcde")
    assert await sequences(bus, 3) == [4, 5]
    assert await sequences(bus, 5) == []
    assert await sequences(bus, 99) == []


async def test_the_log_is_read_by_subject(bus: Bus) -> None:
    await filled(bus, "a", "b", "a", "c")
    await bus.log.publish(sealed(DocumentDeleted(document_id="a"), id="deletion"))
    assert await sequences(bus, 0, subjects.of_document("w", "a")) == [1, 3, 5]
    assert await sequences(bus, 1, subjects.of_type("DocumentAdded"), page=1) == [2, 3, 4]
    assert await sequences(
        bus, 0, subjects.of_type("DocumentDeleted"), subjects.subject("w", "c", "DocumentAdded")
    ) == [
        4,
        5,
    ]
    assert await sequences(bus, 0, subjects.of_document("other", "a")) == []


async def test_the_history_of_a_document_is_read_by_type(bus: Bus) -> None:
    await filled(bus, "a", "b", "a", "c")
    await bus.log.publish(sealed(DocumentDeleted(document_id="a"), id="deletion"))
    assert [event.sequence async for event in bus.log.history("w", "a", "DocumentAdded")] == [1, 3]
    assert [
        event.sequence async for event in bus.log.history("w", "a", "DocumentAdded", after=1)
    ] == [3]
    assert [event.subject async for event in bus.log.history("w", "a", "DocumentDeleted")] == [
        "kb.v1.w.a.DocumentDeleted"
    ]
    assert [event async for event in bus.log.history("other", "a", "DocumentAdded")] == []
    assert [
        event.sequence async for event in bus.log.history("w", None, "DocumentAdded", after=1)
    ] == [2, 3, 4]
    assert [event async for event in bus.log.history("other", None, "DocumentDeleted")] == []
    assert [event.sequence async for event in bus.log.history("w", None, "*", after=2)] == [3, 4, 5]


async def test_the_sizes_of_events_are_those_of_their_data(bus: Bus) -> None:
    await filled(bus, "a", "b")
    await bus.log.publish(sealed(DocumentDeleted(document_id="a"), id="deletion"))
    await bus.foreign("kb.v1.w.a.DocumentAdded", b"x" * 1000, {"ce-id": "1"})
    for event_type in ("DocumentAdded", "*"):
        messages = [message async for message in bus.log.history("w", None, event_type, after=1)]
        sizes = [size async for size in bus.log.sizes("w", event_type, after=1)]
        assert sizes == [(message.sequence, len(message.data)) for message in messages]
        assert sizes[-1] == (4, 1000)
    assert [size async for size in bus.log.sizes("other", "*")] == []


async def test_the_subjects_of_events_are_read_without_their_data(bus: Bus) -> None:
    await filled(bus, "a", "b")
    await bus.log.publish(sealed(DocumentDeleted(document_id="a"), id="deletion"))
    behind = [subject async for subject in bus.log.subjects("w", 1)]
    assert behind == [message.subject async for message in bus.log.history("w", None, "*", after=1)]
    assert behind[-1] == "kb.v1.w.a.DocumentDeleted"
    assert [subject async for subject in bus.log.subjects("other", 0)] == []


async def test_reading_ends_where_the_log_ended_when_it_began(bus: Bus) -> None:
    await filled(bus, "a", "b")
    sequences_read: list[int] = []
    async for page in bus.log.read(page=1):
        sequences_read += [message.sequence for message in page]
        await bus.log.publish(numbered(100 + len(sequences_read), "late"))
    assert sequences_read == [1, 2]
    assert await bus.log.last_sequence() == 4


async def test_what_is_read_can_be_acknowledged_or_refused_without_effect(bus: Bus) -> None:
    await filled(bus, "a")
    ((message,),) = await pages(bus)
    newest_message = await bus.log.newest("w", "a", "DocumentAdded")
    assert newest_message is not None
    await newest_message.nak(0.0)
    await newest_message.heartbeat()
    await newest_message.ack()
    assert (message.attempt, newest_message.attempt) == (1, 1)
    assert await sequences(bus) == [1]


async def test_the_event_that_follows_a_place_in_the_log(bus: Bus) -> None:
    await filled(bus, "a", "b", "a", "b")
    filters = (
        subjects.ALL,
        subjects.of_document("w", "b"),
        subjects.of_type_in("other", "DocumentAdded"),
    )
    result = [
        [await bus.log.following(after, subject) for after in (0, 2, 4)] for subject in filters
    ]
    assert [[message and message.sequence for message in row] for row in result] == [
        [1, 3, None],
        [2, 4, None],
        [None, None, None],
    ]
    message = result[1][1]
    assert message is not None and message.subject == "kb.v1.w.b.DocumentAdded"
    assert decode(message.data, message.subject).data.aggregate_id == "b"


async def test_each_workspace_has_a_newest_event_of_its_own(bus: Bus) -> None:
    assert await bus.log.last("w") == 0
    await filled(bus, "a", "b")
    for number, workspace in enumerate(("w2", "w", "w.w")):
        await bus.log.publish(
            sealed(DocumentDeleted(document_id="a"), id=f"deletion-{number}", workspace=workspace)
        )
    assert [await bus.log.last(workspace) for workspace in ("w", "w2", "w.w", "W", "none")] == [
        4,
        3,
        5,
        0,
        0,
    ]


async def test_the_newest_event_of_a_type_about_a_document(bus: Bus) -> None:
    await filled(bus, "a", "b", "a", "b")
    message = await bus.log.newest("w", "a", "DocumentAdded")
    assert message is not None
    assert (message.sequence, message.subject) == (3, "kb.v1.w.a.DocumentAdded")
    assert decode(message.data, message.subject).id == "event-3"
    read = [message for page in await pages(bus, 2) for message in page]
    assert message.published_at == read[0].published_at


async def test_what_was_never_said_has_no_newest_event(bus: Bus) -> None:
    await filled(bus, "a")
    assert await bus.log.newest("w", "a", "DocumentDeleted") is None
    assert await bus.log.newest("w", "b", "DocumentAdded") is None
    assert await bus.log.newest("other", "a", "DocumentAdded") is None


async def test_documents_of_any_name_are_found_again(bus: Bus) -> None:
    names = ["A b.pdf", "a.b", "文書", "*", ">", "x-a", "a" * 500]
    for number, name in enumerate(names, 1):
        assert await bus.log.publish(numbered(number, name)) == number
    for number, name in enumerate(names, 1):
        message = await bus.log.newest("w", name, "DocumentAdded")
        assert message is not None
        assert message.sequence == number


async def test_a_message_is_buried_raw_with_its_reason_and_twice_is_once(bus: Bus) -> None:
    await filled(bus, "a")
    ((message,),) = await pages(bus)
    for _ in range(2):
        await bus.log.dead_letter(message, "chunker", "Poison: it can never be")
    assert await bus.dead() == [(message.data, "Poison: it can never be")]
    await bus.log.dead_letter(message, "merger", "Poison: nor here")
    assert len(await bus.dead()) == 2


async def test_the_headers_of_a_foreign_event_come_with_it_however_it_is_read(bus: Bus) -> None:
    subject = "kb.v1.w.a.DocumentAdded"
    headers = {"ce-id": "1", "Ce-Type": "t", "ce-note": "é", "Content-Type": "x/y"}
    await bus.foreign(subject, b"{}", headers)
    ((read,),) = await pages(bus)
    newest_event = await bus.log.newest("w", "a", "DocumentAdded")
    following = await bus.log.following(0, subjects.ALL)
    for message in (read, newest_event, following):
        assert message is not None
        assert {name: message.headers[name] for name in headers if name != "ce-note"} == {
            "ce-id": "1",
            "Ce-Type": "t",
            "Content-Type": "x/y",
        }
        assert not message.headers["ce-note"].isascii()
    await bus.log.publish(numbered(2, "b"))
    newest_event = await bus.log.newest("w", "b", "DocumentAdded")
    assert newest_event is not None
    assert not {name for name in newest_event.headers if name.startswith("ce-")}


async def test_a_foreign_event_is_buried_with_any_headers_it_has(bus: Bus) -> None:
    await bus.foreign(
        "kb.v1.w.a.DocumentAdded", b"{}", {"ce-id": "é", "ce-a!": "x", "Kb-Reason": "mine"}
    )
    await bus.foreign("kb.v1.w.a.DocumentAdded", b"{}", {"ce-id": "x" * 30_000})
    for message in [message for page in await pages(bus) for message in page]:
        await bus.log.dead_letter(message, "chunker", "Poison: not ours")
    assert await bus.dead() == [(b"{}", "Poison: not ours")] * 2


async def test_any_reason_can_be_given(bus: Bus) -> None:
    await filled(bus, "a")
    ((message,),) = await pages(bus)
    await bus.log.dead_letter(
        message, "chunker", "Poison: 文書\r\nInjected: header\x00" + "x" * 5000
    )
    ((_, reason),) = await bus.dead()
    assert reason.startswith("Poison:")


async def test_the_largest_message_of_the_log_can_be_buried(bus: Bus) -> None:
    room = declared_stream("KB_EVENTS").max_msg_size - 400
    await bus.log.publish(sealed(added("d", "x" * (room - 200))))
    ((message,),) = await pages(bus)
    assert len(message.data) > room
    await bus.log.dead_letter(message, "chunker", "Poison: " + "long " * 200)
    ((data, _),) = await bus.dead()
    assert data[:1000] == message.data[:1000]


async def test_a_decoded_event_of_the_log_is_the_one_that_was_published(bus: Bus) -> None:
    envelope = sealed(
        added("d", "ü" * 1000, metadata={"a": 1}), traceparent=f"00-{'a' * 32}-{'b' * 16}-01"
    )
    await bus.log.publish(envelope)
    ((message,),) = await pages(bus)
    back = decode(message.data, message.subject)
    assert isinstance(back.data, DocumentAdded)
    assert back.model_dump() == envelope.model_dump()
