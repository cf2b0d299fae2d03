"""Documents share subjects of the log: what is read, counted, followed and erased of one is what it
was, also where it has events of both forms.
"""

import asyncio
from collections.abc import Sequence
from contextlib import aclosing
from pathlib import Path

import pytest
import pytest_asyncio
from nats.js import JetStreamContext

from contracts import subjects
from contracts.partitions import COUNT_KEY, LOG, partition_of, stream_name
from contracts.topology import SHARED_KEY, VERSION, VERSION_KEY
from operations.backup.restoring import Restore
from operations.backup.taking import Backup
from operations.backup.verifying import verify
from operations.erasure.plan import plan_erasure
from operations.erasure.removal import publish_tombstones, remove
from runtime.bus import topology
from runtime.bus.codec import decode, encode
from runtime.bus.nats.copies import read_records
from runtime.bus.nats.feed import NatsEventFeed
from runtime.bus.nats.log import NatsLog
from runtime.bus.port import Message
from runtime.bus.records import Record, line_of
from runtime.errors import Poison
from tests.support.events import added, merged, sealed
from tests.support.events import document as version_of
from tests.support.nats_server import connected, running_nats
from tests.support.partitioned_bus import COUNT, WORKSPACES
from tests.support.shared_subjects import events_of, make_older_log, neighbour_of
from tests.support.waiting import PATIENCE

A = "a"
B = neighbour_of(A)
OF_A = subjects.of_document("w", A)
TYPES = ["DocumentAdded", "EntitiesExtracted", "GraphMerged", "VectorsIndexed", "VectorsIndexed"]


@pytest_asyncio.fixture
async def grown_log(jetstream: JetStreamContext) -> JetStreamContext:
    """A log of which documents came to share subjects: `A` and `B` have four events of each of
    both forms, and one of the document itself before each; A's first stand at 1 to 5, then at 11 to
    15, and the others are B's.
    """
    await make_older_log(jetstream)
    log = NatsLog(jetstream)
    for envelope in (*events_of(A), *events_of(B)):
        await log.publish(envelope)
    assert await topology.apply(jetstream, share_subjects=True)
    for envelope in (*events_of(A, "2"), *events_of(B, "2")):
        await log.publish(envelope)
    return jetstream


OF_A_SEQUENCES = [1, 2, 3, 4, 5, 11, 12, 13, 14, 15]


def sequences(messages: Sequence[Message]) -> list[int]:
    return [message.sequence for message in messages]


async def read(jetstream: JetStreamContext, *filters: str, after: int = 0) -> list[Message]:
    return [m async for page in NatsLog(jetstream).read(after, filters, page=3) for m in page]


async def held_at(jetstream: JetStreamContext, stream: str = LOG) -> list[str]:
    """The subjects that the server has, by sequence."""
    state = (await jetstream.stream_info(stream)).state
    messages = [
        await jetstream.get_msg(stream, number)
        for number in range(state.first_seq, state.last_seq + 1)
    ]
    return [message.subject or "" for message in messages]


async def records(jetstream: JetStreamContext, stream: str = LOG) -> list[Record]:
    return [record async for page in read_records(jetstream, stream) for record in page]


async def test_a_new_log_has_two_subjects_for_a_document_and_says_so(
    jetstream: JetStreamContext,
) -> None:
    metadata = (await jetstream.stream_info(LOG)).config.metadata or {}
    assert (metadata[SHARED_KEY], int(metadata[VERSION_KEY])) == ("0", VERSION + 1)
    log = NatsLog(jetstream)
    for envelope in (*events_of(A), *events_of(B)):
        await log.publish(envelope)
    state = (await jetstream.stream_info(LOG, subjects_filter=">")).state
    # One of each document, and three that both share.
    assert len(state.subjects or {}) == 5
    assert [message.subject.split(".")[3] for message in await read(jetstream)] == [A] * 5 + [B] * 5


async def test_an_older_log_keeps_its_subjects_until_an_operator_says_otherwise(
    jetstream: JetStreamContext,
) -> None:
    await make_older_log(jetstream)
    log = NatsLog(jetstream)
    for envelope in events_of(A):
        await log.publish(envelope)
    assert await topology.apply(jetstream) == []
    assert await held_at(jetstream) == [subjects.subject("w", A, name) for name in TYPES]
    assert (await jetstream.stream_info(LOG)).config.metadata[VERSION_KEY] == str(VERSION)  # type: ignore[index]

    (change,) = await topology.apply(jetstream, share_subjects=True)
    assert change.startswith("changed KB_EVENTS: metadata")
    metadata = (await jetstream.stream_info(LOG)).config.metadata or {}
    # Programs before refuse any greater version than theirs.
    assert (metadata[SHARED_KEY], int(metadata[VERSION_KEY])) == ("5", VERSION + 1)
    await log.publish(events_of(B)[1])
    assert await topology.apply(jetstream, share_subjects=True) == []
    assert await topology.apply(jetstream) == []
    assert await topology.check(jetstream) == []
    assert (await held_at(jetstream))[-1] == subjects.shared(
        subjects.subject("w", B, "EntitiesExtracted")
    )


async def test_an_event_is_the_same_at_whichever_subject_it_is_held(
    grown_log: JetStreamContext,
) -> None:
    held_subjects = await held_at(grown_log)
    shared_sequences = [
        number for number, subject in enumerate(held_subjects, 1) if ".x-" in subject
    ]
    assert shared_sequences == [12, 13, 14, 15, 17, 18, 19, 20]
    messages = await read(grown_log)
    names = [A] * 5 + [B] * 5 + [A] * 5 + [B] * 5
    assert [message.subject for message in messages] == [
        subjects.subject("w", name, type_name)
        for name, type_name in zip(names, TYPES * 4, strict=True)
    ]
    for message in messages:
        assert decode(message.data, message.subject, message.headers)
        assert subjects.DOCUMENT_HEADER not in message.headers


async def test_an_event_that_is_repeated_after_the_change_is_no_second_one(
    grown_log: JetStreamContext,
) -> None:
    log = NatsLog(grown_log)
    assert [await log.publish(envelope) for envelope in events_of(A)] == [1, 2, 3, 4, 5]
    assert [await log.publish(envelope) for envelope in events_of(A, "2")] == [11, 12, 13, 14, 15]
    assert await log.last_sequence() == 20


async def test_the_events_of_a_document_are_its_own_in_the_order_of_the_log(
    grown_log: JetStreamContext,
) -> None:
    log = NatsLog(grown_log)
    assert sequences(await read(grown_log, OF_A)) == OF_A_SEQUENCES
    assert sequences(await read(grown_log, OF_A, after=13)) == [14, 15]
    of_merge = subjects.of_type_in("w", "GraphMerged", A)
    assert sequences(await read(grown_log, of_merge)) == [3, 13]
    histories = {
        (about, name, after): [m.sequence async for m in log.history("w", about, name, after)]
        for about, name, after in [
            (A, "*", 0),
            (A, "*", 4),
            (A, "VectorsIndexed", 0),
            (B, "VectorsIndexed", 9),
            (A, "DocumentAdded", 0),
            (None, "GraphMerged", 0),
            ("nobody", "*", 0),
        ]
    }
    assert list(histories.values()) == [
        OF_A_SEQUENCES,
        [5, 11, 12, 13, 14, 15],
        [4, 5, 14, 15],
        [10, 19, 20],
        [1, 11],
        [3, 8, 13, 18],
        [],
    ]
    next_messages = [await log.following(after, OF_A) for after in (0, 5, 11, 12, 15)]
    assert [message and message.sequence for message in next_messages] == [1, 11, 12, 13, None]
    assert [await log.last_about("w", name) for name in (A, B, "nobody")] == [15, 20, 0]
    newest = [await log.newest("w", name, "GraphMerged") for name in (A, B, "nobody")]
    assert [message and message.sequence for message in newest] == [13, 18, None]
    behind = [subject async for subject in log.subjects("w", 17)]
    assert {subject.split(".")[3] for subject in behind} == {B}


async def test_pages_and_counts_of_a_document_are_its_own(grown_log: JetStreamContext) -> None:
    feed = NatsEventFeed(grown_log)
    assert [await feed.count(OF_A, after) for after in (0, 3, 12, 15)] == [10, 7, 3, 0]
    pages = [await feed.page(OF_A, after, limit) for after, limit in ((0, 3), (4, 4), (13, 9))]
    assert [(sequences(messages), remaining) for messages, remaining in pages] == [
        ([1, 2, 3], 7),
        ([5, 11, 12, 13], 2),
        ([14, 15], 0),
    ]
    assert await feed.count(subjects.of_type_in("w", "VectorsIndexed", B)) == 4


async def test_a_follower_of_a_document_misses_nothing_and_is_told_of_silence(
    grown_log: JetStreamContext,
) -> None:
    log = NatsLog(grown_log)
    followed_sequences = list[int]()
    event_pages = NatsEventFeed(grown_log).follow(OF_A, 3, 0.3)
    async with aclosing(event_pages) as pages, asyncio.timeout(PATIENCE):
        while len(followed_sequences) < 7:
            followed_sequences += sequences(await anext(pages))
        assert await anext(pages) == []
        for envelope in (*events_of(B, "3"), *events_of(A, "3"), *events_of(B, "4")):
            await log.publish(envelope)
        while len(followed_sequences) < 12:
            followed_sequences += sequences(await anext(pages))
    assert followed_sequences == [4, 5, 11, 12, 13, 14, 15, 26, 27, 28, 29, 30]


async def test_an_event_at_the_subject_of_another_document_is_refused(
    jetstream: JetStreamContext,
) -> None:
    shared_subject = subjects.shared(subjects.subject("w", A, "GraphMerged"))
    data = encode(sealed(merged(version_of(A), 0)))
    for document in ("", B, "elsewhere", "x-000", "a b", A):
        headers = {subjects.DOCUMENT_HEADER: document} if document else None
        await jetstream.publish(shared_subject, data, headers=headers)
    *forged_messages, own_message = await read(jetstream)
    for message in forged_messages:
        with pytest.raises(Poison, match="differs from the subject's"):
            decode(message.data, message.subject, message.headers)
    assert decode(own_message.data, own_message.subject, own_message.headers).data.aggregate_id == A
    # As ever, it stands in the history of the document that its address names.
    assert sequences(await read(jetstream, OF_A)) == [6]
    assert sequences(await read(jetstream, subjects.of_document("w", B))) == [2]


async def test_an_erasure_takes_what_a_document_has_in_both_forms(
    grown_log: JetStreamContext,
) -> None:
    log = NatsLog(grown_log)
    lines_before = {record.sequence: line_of(record) for record in await records(grown_log)}
    plan = await plan_erasure(grown_log, "w", A)
    assert sorted(plan.history.leaves) == OF_A_SEQUENCES
    assert plan.history.counts["VectorsIndexed"] == 4
    await publish_tombstones(grown_log, plan, "asked for")
    await remove(grown_log, plan)
    history = (await plan_erasure(grown_log, "w", A)).history
    assert history.unfinished and not history.leaves
    assert {m.subject.split(".")[4] for m in await read(grown_log, OF_A)} == {"DocumentErased"}
    assert sequences([m async for m in log.history("w", B, "*")]) == [*range(6, 11), *range(16, 21)]
    lines_after = {record.sequence: line_of(record) for record in await records(grown_log)}
    assert {
        number: lines_after[number] for number in lines_before if number not in OF_A_SEQUENCES
    } == {number: line for number, line in lines_before.items() if number not in OF_A_SEQUENCES}


@pytest.mark.parametrize("shares_subjects", [True, False])
async def test_a_backup_of_both_forms_is_restored_to_either_event_by_event(
    grown_log: JetStreamContext, tmp_path: Path, shares_subjects: bool
) -> None:
    # A header of that name which a publisher made is a part of the event.
    foreign_headers = {subjects.DOCUMENT_HEADER: "mine"}
    subject = subjects.subject("w", "c", "GraphMerged")
    await grown_log.publish(
        subject, encode(sealed(merged(version_of("c"), 0))), headers=foreign_headers
    )
    first_records = await records(grown_log)
    await Backup(grown_log, tmp_path / "copy", lambda _: None).run()
    copy = verify([tmp_path / "copy"], lambda _: None)
    async with running_nats(tmp_path / "other") as server, connected(server) as client:
        restored_bus = client.jetstream(timeout=5)
        restore = Restore(restored_bus, copy, lambda _: None, shares_subjects=shares_subjects)
        assert await restore.run() == 21
        assert [*map(line_of, await records(restored_bus))] == [*map(line_of, first_records)]
        held_subjects = await held_at(restored_bus)
        assert sum(".x-" in subject for subject in held_subjects) == (16 if shares_subjects else 0)
        assert await topology.check(restored_bus) == []
        assert sequences(await read(restored_bus, OF_A)) == OF_A_SEQUENCES


async def test_partitions_hold_shared_subjects_and_older_ones(
    partitioned_log: JetStreamContext,
) -> None:
    await make_older_log(partitioned_log, COUNT)
    log = NatsLog(partitioned_log)
    for workspace in WORKSPACES:
        for envelope in events_of(A, workspace=workspace):
            await log.publish(envelope)
    assert await topology.apply(partitioned_log, share_subjects=True)
    metadata = (await partitioned_log.stream_info(LOG)).config.metadata or {}
    infos = [await partitioned_log.stream_info(stream_name(number)) for number in range(COUNT)]
    ends = [info.state.last_seq for info in infos]
    assert metadata[SHARED_KEY] == "-".join(map(str, ends))
    assert (metadata[COUNT_KEY], int(metadata[VERSION_KEY])) == (str(COUNT), 101 + VERSION)
    for workspace in WORKSPACES:
        for envelope in (*events_of(A, "2", workspace), *events_of(B, "2", workspace)):
            await log.publish(envelope)
    for workspace in WORKSPACES:
        stream = stream_name(partition_of(workspace, COUNT))
        held_subjects = await held_at(partitioned_log, stream)
        assert [number for number, name in enumerate(held_subjects, 1) if ".x-" in name] == [
            *range(7, 11),
            *range(12, 16),
        ]
        plan = await plan_erasure(partitioned_log, workspace, A)
        own_sequences = [message.sequence async for message in log.history(workspace, A, "*")]
        assert (sorted(plan.history.leaves), len(own_sequences)) == (own_sequences, 10)
        await publish_tombstones(partitioned_log, plan, "")
        await remove(partitioned_log, plan)
        assert not (await plan_erasure(partitioned_log, workspace, A)).history.leaves
        of_b = [message async for message in log.history(workspace, B, "*")]
        assert len(of_b) == 5
    assert await topology.check(partitioned_log) == []


async def test_a_document_whose_name_is_a_hash_shares_subjects_too(
    jetstream: JetStreamContext,
) -> None:
    log = NatsLog(jetstream)
    name = "Über/ein Dokument.pdf"
    for envelope in events_of(name):
        await log.publish(envelope)
    history = [message async for message in log.history("w", name, "*")]
    assert [m.subject for m in history] == [subjects.subject("w", name, t) for t in TYPES]
    assert await log.publish(sealed(added(A))) == 6
    assert sequences(await read(jetstream, subjects.of_document("w", name))) == [1, 2, 3, 4, 5]
