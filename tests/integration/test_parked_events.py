"""What cannot be handled now takes no place from others: real services on a real server."""

from collections.abc import Awaitable, Callable
from pathlib import Path

from nats.js import JetStreamContext

from contracts import subjects
from contracts.topology import declared_consumer
from runtime.bus.nats.log import NatsLog
from runtime.bus.nats.parked import NatsParkedEvents
from tests.support.events import added, sealed
from tests.support.nats_server import BusServer, until
from tests.support.services import page, service
from tests.support.trial_service import document, trial_service
from tests.support.upgraded_service import newer, upgraded

WINDOW = declared_consumer("chunker").max_ack_pending
MANY = WINDOW + 20
"""More than a consumer delivers unacknowledged."""


async def there_are(
    jetstream: JetStreamContext, count: int, event_type: str, workspace: str
) -> bool:
    log = NatsLog(jetstream)
    return (
        sum(
            [
                len(result)
                async for result in log.read(0, [subjects.of_type_in(workspace, event_type)])
            ]
        )
        >= count
    )


async def parked(jetstream: JetStreamContext) -> int:
    return (await jetstream.stream_info("KB_PARKED")).state.messages


async def publish_newer(jetstream: JetStreamContext, workspace: str, count: int) -> None:
    for number in range(count):
        await jetstream.publish(*newer(f"d{number}", workspace))


async def test_newer_events_of_one_workspace_hold_up_no_other_and_are_handled_after_the_upgrade(
    server: BusServer, jetstream: JetStreamContext, tmp_path: Path
) -> None:
    log = NatsLog(jetstream)
    await publish_newer(jetstream, "ahead", MANY)
    async with service("chunker", tmp_path, NATS_URL=server.url) as process:
        sequence = await log.publish(sealed(added("d", "Zoe knows Yan."), workspace="other"))
        await until(
            lambda: there_are(jetstream, 1, "ChunksCreated", "other"),
            "the other workspace's chunks",
        )

        async def all_parked() -> bool:
            info = await jetstream.consumer_info("KB_EVENTS", "chunker")
            return await parked(jetstream) == MANY and info.num_ack_pending == 0

        await until(all_parked, "every newer event parked, and a window that is free")
        assert await log.handled("chunker") == 0
        assert await log.handled("chunker", workspace="ahead") == 0
        assert await log.handled("chunker", workspace="other") >= sequence

        async def noted() -> bool:
            status, body = await page(process, "ready")
            return status == 200 and f"{MANY} events of a version newer" in str(body.get("notes"))

        await until(noted, "a note on the health page")
        (entry, *_) = await NatsParkedEvents(jetstream).changes("chunker", 0, max_records=1)
        assert entry.event is not None
        assert (entry.event.event_type, entry.event.version, entry.event.document) == (
            "DocumentAdded",
            2,
            "d0",
        )
        assert (entry.event.workspace, entry.event.reason, entry.event.sequence) == (
            "ahead",
            "newer-version",
            1,
        )
    async with upgraded("chunker", tmp_path, NATS_URL=server.url):
        await until(
            lambda: there_are(jetstream, MANY, "ChunksCreated", "ahead"),
            "the chunks of the newer events",
        )
        await until(lambda: empty(jetstream), "an empty list")
    assert await log.handled("chunker") >= sequence


async def empty(jetstream: JetStreamContext) -> bool:
    return await parked(jetstream) == 0


async def test_one_workspace_s_trouble_takes_no_place_from_others_and_ends_with_its_cause(
    server: BusServer, jetstream: JetStreamContext, tmp_path: Path
) -> None:
    log = NatsLog(jetstream)
    (tmp_path / "down").touch()
    for number in range(MANY):
        await log.publish(document(f"stuck-{number}", workspace="troubled"))
    async with (
        trial_service(server.url, tmp_path, workers=4),
        trial_service(server.url, tmp_path, workers=4),
    ):
        for number in range(3):
            # Each is seen though the window could be full of the others.
            await log.publish(document(f"d{number}", id=f"other-{number}", workspace="other"))
            await until(answered(jetstream, number + 1), "the other workspace's answer", seconds=60)
        await until(lambda: some(jetstream), "parked events")
        info = await jetstream.consumer_info("KB_EVENTS", "chunker")
        assert (info.num_ack_pending or 0) < WINDOW
        (tmp_path / "down").unlink()
        await until(
            lambda: there_are(jetstream, MANY, "DocumentDeleted", "troubled"), "everything handled"
        )
        await until(lambda: empty(jetstream), "an empty list")
    pages = [result async for result in log.read(0, [subjects.of_type("DocumentDeleted")])]
    answers = [message.subject for result in pages for message in result]
    assert len(answers) == len(set(answers)) == MANY + 3


def answered(jetstream: JetStreamContext, count: int) -> Callable[[], Awaitable[bool]]:
    return lambda: there_are(jetstream, count, "DocumentDeleted", "other")


async def some(jetstream: JetStreamContext) -> bool:
    return await parked(jetstream) > 0


async def test_two_replicas_take_parked_events_up_without_handling_each_twice(
    server: BusServer, jetstream: JetStreamContext, tmp_path: Path
) -> None:
    await publish_newer(jetstream, "ahead", 40)
    async with service("chunker", tmp_path, NATS_URL=server.url):
        await until(lambda: all_forty(jetstream), "forty parked events")
    async with (
        upgraded("chunker", tmp_path, NATS_URL=server.url),
        upgraded("chunker", tmp_path, NATS_URL=server.url),
    ):
        await until(lambda: empty(jetstream), "an empty list")
    info = await jetstream.consumer_info("KB_EVENTS", "chunker")
    assert (info.num_pending, info.num_ack_pending) == (0, 0)
    assert await there_are(jetstream, 40, "ChunksCreated", "ahead")


async def all_forty(jetstream: JetStreamContext) -> bool:
    return await parked(jetstream) == 40
