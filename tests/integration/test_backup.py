"""A backup is the log, event by event: taken while it grows, continued, restored to the same
sequences and times.
"""

import asyncio
from collections.abc import AsyncGenerator
from datetime import UTC, datetime
from pathlib import Path

import pytest
from nats.js import JetStreamContext

from contracts import subjects
from contracts.graph import PROJECTIONS
from contracts.topology import CONSUMERS
from operations.backup import manifest as manifests
from operations.backup import taking
from operations.backup.manifest import Manifest
from operations.backup.restoring import Restore
from operations.backup.taking import Backup, blob_path
from operations.backup.verifying import verify
from publishing.documents import add_document
from publishing.draft import DocumentDraft, Submission
from runtime.bus import topology
from runtime.bus.encoded_text import BLOB_PART
from runtime.bus.generations import GenerationState
from runtime.bus.nats import copies
from runtime.bus.nats.blobs import NatsBlobs
from runtime.bus.nats.copies import read_records
from runtime.bus.nats.key_values import NatsLiveGenerations
from runtime.bus.nats.log import NatsLog
from runtime.bus.records import Record, leaf, line_of, parse_line
from runtime.errors import InvalidInput, LogDamaged, ServiceError
from tests.support.damage import cut_the_tail
from tests.support.nats_server import RunningNats, connected, reconnected, running_nats, until
from tests.support.trial_service import document

LONG = "Ä long text.\n" * 45_000


@pytest.fixture
async def server(tmp_path: Path) -> AsyncGenerator[RunningNats]:
    async with running_nats(tmp_path) as server:
        yield server


@pytest.fixture
async def bus(server: RunningNats) -> AsyncGenerator[JetStreamContext]:
    """A bus with what a log may hold: events, a hole, foreign bytes and headers, an id a second
    time, a long text.
    """
    async with connected(server) as client:
        bus = client.jetstream()
        await topology.apply(bus)
        log = NatsLog(bus)
        for number in range(1, 8):
            await log.publish(document(f"doc-{number}"))
        await bus.publish(
            "kb.v1.trial.x.DocumentAdded", b"\xff\n{", headers={"ce-id": "é", "Nats-Msg-Id": "mine"}
        )
        await bus.publish(subjects.PROBE, b"")
        await add_document(
            log,
            NatsBlobs(bus),
            workspace="trial",
            draft=DocumentDraft.of(Submission(text=LONG, id="long")),
            source="test",
        )
        await bus.purge_stream("KB_EVENTS", subject=subjects.of_document("trial", "doc-3"))
        yield bus


@pytest.fixture
async def empty_bus(tmp_path: Path) -> AsyncGenerator[JetStreamContext]:
    async with running_nats(tmp_path / "empty") as server, connected(server) as client:
        yield client.jetstream()


async def taken(bus: JetStreamContext, folder: Path, since: int | None = None) -> Manifest:
    return await Backup(bus, folder, ignore).run(since)


def ignore(_: object) -> None:
    """Progress is for people."""


async def lines(bus: JetStreamContext) -> list[bytes]:
    return [line_of(record) async for page in read_records(bus, "KB_EVENTS") for record in page]


async def restored(bus: JetStreamContext, *folders: Path) -> int:
    result = verify(folders, ignore)
    assert not result.problems
    return await Restore(bus, result, ignore).run()


async def test_a_restored_log_is_the_same_event_by_event(
    bus: JetStreamContext, empty_bus: JetStreamContext, tmp_path: Path
) -> None:
    await NatsLiveGenerations(await bus.key_value("KB_GENERATIONS")).write(
        {name: GenerationState(live=4, previous=3, highest=5) for name in PROJECTIONS}, 0
    )
    message = (
        await (await bus.pull_subscribe_bind(consumer="chunker", stream="KB_EVENTS")).fetch(1)
    )[0]
    await message.ack_sync()
    manifest = await taken(bus, tmp_path / "copy")
    assert manifest.messages == 9 and manifest.last == 10

    assert await restored(empty_bus, tmp_path / "copy") == 9

    assert await lines(empty_bus) == await lines(bus)
    assert not await topology.check(empty_bus)
    state = (await empty_bus.stream_info("KB_EVENTS")).state
    first = await NatsLog(empty_bus).following(0, subjects.ALL)
    assert (state.last_seq, state.messages) == (10, 9)
    assert (
        first and first.published_at == (await NatsLog(bus).following(0, subjects.ALL)).published_at
    )  # pyright: ignore
    assert await NatsLog(empty_bus).publish(document("next")) == 11
    assert (await empty_bus.consumer_info("KB_EVENTS", "chunker")).ack_floor.stream_seq == 1  # pyright: ignore
    assert {c.name for c in CONSUMERS} >= set(manifest.floors)
    (blob,) = {blob.sha256 for blob in manifest.blobs.values()}
    assert (
        LONG.encode() == blob_path(tmp_path / "copy", blob).read_bytes()
        and len(LONG.encode()) > BLOB_PART
    )
    pointers, _ = await (await NatsLiveGenerations.bind(empty_bus)).read()
    assert pointers["graph"] == GenerationState(live=5, highest=5), (
        "no number is given out twice, none to go back to"
    )


async def test_a_backup_goes_on_where_it_ended(
    bus: JetStreamContext,
    empty_bus: JetStreamContext,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(taking, "PART_MESSAGES", 4)
    folder = tmp_path / "copy"

    def killed(step: dict[str, int]) -> None:
        if step["position"] >= 5:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        await Backup(bus, folder, killed).run()
    half = manifests.read(folder)
    assert half and not half.complete and half.last < 10
    assert "is not complete" in verify([folder], ignore).problems[0]
    await taken(bus, folder)
    await NatsLog(bus).publish(document("later"))
    assert (await taken(bus, folder)).messages == 10
    await restored(empty_bus, folder)
    assert await lines(empty_bus) == await lines(bus)


async def test_a_backup_of_what_is_new_stands_in_a_folder_of_its_own(
    bus: JetStreamContext, empty_bus: JetStreamContext, tmp_path: Path
) -> None:
    base = await taken(bus, tmp_path / "base")
    await NatsLog(bus).publish(document("later"))
    addition = await taken(bus, tmp_path / "more", since=base.last)
    assert addition.messages == 1
    assert "begins behind sequence 10" in verify([tmp_path / "more"], ignore).problems[0]
    await restored(empty_bus, tmp_path / "base", tmp_path / "more")
    assert await lines(empty_bus) == await lines(bus)


async def test_a_beginning_behind_the_log_is_refused_and_leaves_no_folder(
    bus: JetStreamContext, tmp_path: Path
) -> None:
    with pytest.raises(InvalidInput, match="the log ends at sequence 10: nothing is behind 11 yet"):
        await taken(bus, tmp_path / "more", since=11)
    assert not (tmp_path / "more").exists()


async def test_a_restore_that_was_killed_goes_on(
    bus: JetStreamContext,
    empty_bus: JetStreamContext,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    await taken(bus, tmp_path / "copy")
    monkeypatch.setattr(copies, "PAGE", 2)

    def killed(step: dict[str, int]) -> None:
        if step.get("position") == 6:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        await Restore(empty_bus, verify([tmp_path / "copy"], ignore), killed).run()
    await restored(empty_bus, tmp_path / "copy")
    await restored(empty_bus, tmp_path / "copy")
    assert await lines(empty_bus) == await lines(bus)


async def test_what_is_not_empty_is_not_restored_into(
    bus: JetStreamContext, empty_bus: JetStreamContext, tmp_path: Path
) -> None:
    await taken(bus, tmp_path / "copy")
    await topology.apply(empty_bus)
    await NatsLog(empty_bus).publish(document("somebody-else"))
    with pytest.raises(InvalidInput, match="not empty: it holds another event at sequence 1"):
        await restored(empty_bus, tmp_path / "copy")
    with pytest.raises(LogDamaged, match="ends at sequence 1, and the backup"):
        await taken(empty_bus, tmp_path / "copy")
    for number in range(10):
        await NatsLog(empty_bus).publish(document(f"somebody-else-{number}"))
    with pytest.raises(InvalidInput, match="another log"):
        await taken(empty_bus, tmp_path / "copy")


async def test_every_damaged_file_is_noticed(bus: JetStreamContext, tmp_path: Path) -> None:
    folder = tmp_path / "copy"
    await taken(bus, folder)
    files = [path for path in folder.rglob("*") if path.is_file()]
    assert len(files) == len(("manifest", "events", "text", "dead", "parked"))
    for path in files:
        sound = path.read_bytes()
        damaged_bytes = bytearray(sound)
        damaged_bytes[len(sound) // 2] ^= 1
        path.write_bytes(bytes(damaged_bytes))
        try:
            result = verify([folder], ignore).problems
        except InvalidInput as error:
            result = [str(error)]
        assert result and path.name in result[0]
        path.write_bytes(sound)
    assert not verify([folder], ignore).problems


async def test_what_is_erased_leaves_older_parts_and_never_comes_back(
    bus: JetStreamContext, empty_bus: JetStreamContext, tmp_path: Path
) -> None:
    older_part = tmp_path / "older"
    newer_part = tmp_path / "newer"
    base = await taken(bus, older_part)
    records = [record async for page in read_records(bus, "KB_EVENTS") for record in page]
    erased_records = [
        record for record in records if ".long." in record.subject or ".doc-5." in record.subject
    ]
    await tombstone(bus, erased_records)
    for id in ("long", "doc-5"):
        await bus.purge_stream("KB_EVENTS", subject=subjects.of_document("trial", id))
    await taken(bus, newer_part, since=base.last)
    assert verify([older_part, newer_part], ignore).erased_sequences == {
        record.sequence for record in erased_records
    }

    manifest = await taken(bus, older_part)

    assert manifest.erased == 2 and not manifest.blobs
    content = b"".join(path.read_bytes() for path in older_part.rglob("*") if path.is_file())
    assert b"long text" not in content and not list(older_part.glob("blobs/*/*"))
    assert not verify([older_part], ignore).problems
    await restored(empty_bus, older_part)
    assert await lines(empty_bus) == await lines(bus)


async def tombstone(bus: JetStreamContext, records: list[Record]) -> None:
    entries = ",".join(
        f'{{"sequence":{record.sequence},"sha256":"{leaf(record)}"}}' for record in records
    )
    await bus.publish(
        "kb.v1.trial._erased.DocumentErased", f'{{"data":{{"erased":[{entries}]}}}}'.encode()
    )


async def test_a_log_that_lost_events_is_not_copied_over_them(
    server: RunningNats, bus: JetStreamContext, tmp_path: Path
) -> None:
    await taken(bus, tmp_path / "copy")
    await server.kill()
    cut_the_tail(server)
    await server.restart()
    async with connected(server) as client:
        await reconnected(client)
        with pytest.raises(ServiceError, match="lost events"):
            await taken(client.jetstream(), tmp_path / "copy")
    assert not verify([tmp_path / "copy"], ignore).problems


async def test_nothing_is_restored_under_running_services(
    bus: JetStreamContext, empty_bus: JetStreamContext, tmp_path: Path
) -> None:
    await taken(bus, tmp_path / "copy")
    await topology.apply(empty_bus)
    reader = await empty_bus.pull_subscribe_bind(consumer="chunker", stream="KB_EVENTS")
    service = asyncio.create_task(reader.fetch(1, timeout=60))

    async def waiting() -> bool:
        return bool((await empty_bus.consumer_info("KB_EVENTS", "chunker")).num_waiting)

    await until(waiting, "the service waits")
    with pytest.raises(InvalidInput, match="a service waits for events of chunker"):
        await restored(empty_bus, tmp_path / "copy")
    service.cancel()


@pytest.mark.parametrize(
    "data", [b'{"a":1}', b"", b"\xff", b'{"a":\n1}', b'{"b":"\\",\\"event\\":"}', b'"x","bytes":']
)
def test_a_line_gives_back_the_very_message(data: bytes) -> None:
    record = Record(
        7,
        datetime(2026, 1, 2, 3, 4, 5, 678, UTC),
        "kb.v1.a.b.C",
        {"event": "é", "bytes": ',"event":'},
        data,
    )
    assert parse_line(line_of(record)) == record
    assert b"\n" not in line_of(record)
