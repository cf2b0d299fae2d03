"""A second region mirrors the log of the first: what is written and erased there, a cut between the
two, and how the second becomes the one that is written to. A log of one stream and one of several
partitions.
"""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest
from nats.js import JetStreamContext

from contracts import subjects
from contracts.events import DocumentAdded, Event
from contracts.graph import PROJECTIONS, Generations
from contracts.partitions import LOG, first_sequence, number_at, partition_of, stream_name
from contracts.topology import CONSUMERS, SHARED_KEY
from embedded.processes import free_port
from embedded.servers.nats import BusLink, BusOptions, nats_server
from offline.embeddings.lexical import LexicalEmbedder
from operations.checkpoints import Checkpoints
from operations.digest import Stores, digest
from operations.erasure.plan import plan_erasure
from operations.erasure.removal import publish_tombstones, remove
from operations.rebuild import Rebuild
from operations.region.follower import Follower
from operations.region.promotion import plan_promotion, promote
from operations.region.status import read_status
from runtime.bus import topology
from runtime.bus.encoded_text import EncodedText
from runtime.bus.mirrors import make_mirrors, mirrored_configs, promote_mirrors
from runtime.bus.nats.blobs import NatsBlobs
from runtime.bus.nats.key_values import NatsLiveGenerations
from runtime.bus.nats.log import NatsLog
from runtime.bus.nats.log_integrity import key_of, observe
from runtime.bus.nats.log_streams import LogStreams, log_streams
from runtime.bus.nats.mirrored_log import MirroredLog
from runtime.bus.nats.region import WritingRegion
from runtime.bus.topology import mirror_config
from runtime.errors import ConfigurationError, InvalidInput, ReadOnlyRegion, Unavailable
from runtime.stores.documents.memory import MemoryRows
from runtime.stores.graph.memory import MemoryGraph
from runtime.stores.vectors.memory import MemoryVectors
from services.merger.settings import MergerSettings
from tests.support.counting_relays import Relay, relaying, uncounted
from tests.support.events import added, chunked, document, entity, extracted, sealed
from tests.support.nats_server import RunningNats, connected, until
from tests.support.shared_subjects import make_older_log
from tests.support.stored_bytes import files_with

CANARY = "quillfeather"
FIRST = WritingRegion("first", "https://first.example")

WORKSPACES = {1: ["w"], 4: ["a", "other", "w"]}
"""By the number of partitions: one in each, but for the last of several, which stays empty."""

of_one_stream_and_of_partitions = pytest.mark.parametrize("partitions", WORKSPACES)


@asynccontextmanager
async def bus(
    folder: Path, link: BusLink | None = None, partitions: int = 1
) -> AsyncGenerator[JetStreamContext]:
    """A bus of a region, whose server maps events to so many partitions."""
    port = free_port()
    options = BusOptions(link, partitions)
    process = nats_server(folder, port=port, sync="default", options=options)
    await process.start()
    try:
        async with connected(RunningNats(process, port, None, folder)) as client:
            yield client.jetstream(timeout=5)
    finally:
        await process.stop()


@dataclass
class Regions:
    """Two buses whose link goes over a relay, and an open relay. `workspaces`: those of which the
    log of the first has something.
    """

    first: JetStreamContext
    second: JetStreamContext
    relay: Relay
    workspaces: list[str]


@asynccontextmanager
async def regions(
    folder: Path, partitions: int = 1, mapped_in_second: int | None = None
) -> AsyncGenerator[Regions]:
    """Two regions: the second can reach the first while `relaying(relay)` is open. Without
    `mapped_in_second` its server maps events as that of the first does.
    """
    ports = [free_port(), free_port()]
    relay = Relay(uncounted, port=free_port(), target=ports[0])
    remote = f"nats-leaf://region:secret@127.0.0.1:{relay.port}"
    async with (
        bus(folder / "first", BusLink("first", ports[0], "secret"), partitions) as first,
        bus(
            folder / "second",
            BusLink("second", ports[1], "secret", remote),
            mapped_in_second or partitions,
        ) as second,
    ):
        await topology.apply(first, partitions=partitions)
        yield Regions(first, second, relay, WORKSPACES[partitions])


async def write(log: NatsLog, id: str, text: str, workspace: str = "w") -> None:
    """What a document of one chunk leaves in the log."""

    async def publish(event: Event, name: str) -> int:
        return await log.publish(sealed(event, id=f"{id}-{name}", workspace=workspace))

    version = await publish(added(id, text), "added")
    of = document(id, version, file_path=f"{id}.txt")
    await publish(chunked(of, text), "chunked")
    extraction = extracted(of, 0, [entity("Quayford"), entity(f"Person {id}", description=text)])
    await publish(extraction, "extracted")


async def write_documents(pair: Regions, workspace: str) -> None:
    """Seven events: of one document that stays, and of two with a word that is erased later."""
    log = NatsLog(pair.first)
    text = EncodedText.of(f"{CANARY} {'x' * 300_000}")
    ref = await NatsBlobs(pair.first).put(text, workspace)
    long = DocumentAdded(document_id="long", blob=ref, file_path="long.txt")
    await log.publish(sealed(long, id="long-added", workspace=workspace))
    await write(log, "secret", f"Osric keeps the {CANARY}.", workspace)
    await write(log, "kept", "Mira built the lighthouse.", workspace)


async def write_and_erase(pair: Regions, workspace: str) -> None:
    """What the second region does not hear of while the link is cut."""
    await write(NatsLog(pair.first), "late", "Tamsin rings the bell.", workspace)
    for id in ("secret", "long"):
        plan = await plan_erasure(pair.first, workspace, id)
        await publish_tombstones(pair.first, plan, "asked for")
        await remove(pair.first, plan)


def memory_stores() -> Stores:
    embedder = LexicalEmbedder()
    vectors = MemoryVectors(embedder.model, embedder.dimension)
    return Stores(MemoryRows(), MemoryGraph(), vectors)


async def work_on(jetstream: JetStreamContext) -> Rebuild:
    """What handles the events of a log for stores in memory."""
    stores = memory_stores()
    return Rebuild(
        NatsLog(jetstream),
        await NatsLiveGenerations.bind(jetstream),
        stores,
        LexicalEmbedder(),
        PROJECTIONS,
        lambda _: None,
        MergerSettings(),
        await Checkpoints.open(jetstream, stores),
    )


async def follower_of(regions: Regions) -> Follower:
    """The follower of the second region. Its stores are in memory, so it opens none."""
    target = cast(Any, SimpleNamespace(name="second"))
    return await Follower.open(target, FIRST, regions.second, lambda _: None)


async def digests(work: Rebuild, workspaces: list[str]) -> list[str]:
    live = Generations()
    return [
        (await digest(name, workspace, live, work.stores)).sha256
        for workspace in workspaces
        for name in PROJECTIONS
    ]


async def rebuilt(jetstream: JetStreamContext, workspaces: list[str]) -> list[str]:
    """The digests of stores that are made from this log alone."""
    work = await work_on(jetstream)
    work.position = (await log_streams(jetstream)).start()
    await work.catch_up()
    return await digests(work, workspaces)


async def ends(jetstream: JetStreamContext) -> list[int]:
    """The ends of the log and of the texts beside it."""
    info = await jetstream.stream_info("KB_BLOBS")
    return [*(await NatsLog(jetstream).end()).sequences, info.state.last_seq]


async def mirrored(regions: Regions) -> None:
    """Wait until every mirror has what its stream has."""

    async def same() -> bool:
        return await ends(regions.first) == await ends(regions.second)

    await until(same, "the mirrors have everything")


async def made(regions: Regions) -> None:
    """Wait for the link, and make the mirrors."""

    async def possible() -> bool:
        try:
            await make_mirrors(regions.second, FIRST)
        except Unavailable:
            return False
        return True

    await until(possible, "the mirrors are made")


@of_one_stream_and_of_partitions
async def test_a_region_follows_over_a_cut_erases_and_is_promoted(
    tmp_path: Path, partitions: int
) -> None:
    async with regions(tmp_path, partitions) as pair:
        for workspace in pair.workspaces:
            await write_documents(pair, workspace)
        async with relaying(pair.relay):
            await made(pair)
            await mirrored(pair)
            follower = await follower_of(pair)
            work = await work_on(pair.second)
            await check_following(pair, follower, work)
        # The link is cut.
        for workspace in pair.workspaces:
            await write_and_erase(pair, workspace)
        assert files_with(tmp_path / "first", CANARY.encode()) == []
        assert files_with(tmp_path / "second", CANARY.encode())
        async with relaying(pair.relay):
            await mirrored(pair)
            for stream in LogStreams(partitions).names:
                missing_count = (await observe(pair.second, stream)).missing_count
                assert missing_count == 0, "no hole is taken for a loss"
            await follower.remove_erased()
            assert files_with(tmp_path / "second", CANARY.encode()) == []
            assert follower.progress.is_erasing, "until its stores are made anew"
            digests_of_first = await rebuilt(pair.first, pair.workspaces)
            assert await rebuilt(pair.second, pair.workspaces) == digests_of_first
            assert await follower.apply(work)
            await settled(follower)
            status = await read_status(pair.first)
            assert [(f.region, f.position) for f in status.followers] == [("second", status.end)]
        await promoted(pair)


async def check_following(pair: Regions, follower: Follower, work: Rebuild) -> None:
    """The second region takes nothing in, and its readers see what its stores have."""
    assert await topology.check(pair.second) == []
    with pytest.raises(ReadOnlyRegion, match=r"region first, at https://first\.example"):
        await NatsLog(pair.second).publish(sealed(added("here")))
    readers_log = MirroredLog(pair.second)
    for workspace in pair.workspaces:
        assert number_at(await readers_log.last(workspace)) == 0, "the stores here are empty"
        assert await readers_log.following(0, subjects.of_workspace(workspace)) is None
    assert await follower.apply(work)
    for workspace in pair.workspaces:
        end = await readers_log.last(workspace)
        assert number_at(end) == 7
        assert await readers_log.handled(workspace=workspace) == end
    assert await readers_log.handled_position() == await readers_log.end()
    digests_of_first = await rebuilt(pair.first, pair.workspaces)
    assert await digests(work, pair.workspaces) == digests_of_first


async def settled(follower: Follower) -> None:
    """A follower has told the other region where it is."""
    await follower.note()
    names = (await log_streams(follower.jetstream)).names
    keys = {key_of(consumer.name, name) for consumer in CONSUMERS for name in names}
    assert follower.progress.floors.keys() == keys


async def promoted(pair: Regions) -> None:
    """The second region goes on where the first one stood, which is away."""
    log = NatsLog(pair.second)
    end = await log.end()
    promotion = await plan_promotion(pair.second)
    assert (promotion.end, promotion.missing_events, promotion.answers) == (end, 0, False)
    await promote(pair.second, promotion)
    assert await topology.check(pair.second) == []
    with pytest.raises(InvalidInput, match="writes the log"):
        await plan_promotion(pair.second)
    streams = await log_streams(pair.second)
    for workspace in pair.workspaces:
        info = await pair.second.consumer_info(streams.of_workspace(workspace), "chunker")
        assert info.num_pending == 2, "what nobody handled there is handled here"
    by_partition = {partition_of(name, streams.count): name for name in "abcdefgh"}
    for partition, sequence in enumerate(end.sequences):
        event = sealed(added("new"), id="new-added", workspace=by_partition[partition])
        assert await log.publish(event) == sequence + 1
        assert await log.publish(event) == sequence + 1
    assert await NatsLog(pair.first).end() == end


async def test_a_region_has_as_many_partitions_as_the_one_it_follows(tmp_path: Path) -> None:
    async with regions(tmp_path, 4, mapped_in_second=1) as pair, relaying(pair.relay):

        async def refusal() -> str:
            with pytest.raises((InvalidInput, Unavailable)) as failure:
                await make_mirrors(pair.second, FIRST, partitions=2)
            return str(failure.value)

        async def is_linked() -> bool:
            return "does not answer" not in await refusal()

        await until(is_linked, "the link")
        assert "first has 4 partitions, and this stack is made for 2" in await refusal()
        with pytest.raises(ConfigurationError, match=r"does not map events to 4 partitions"):
            await make_mirrors(pair.second, FIRST)
        assert await pair.second.streams_info() == []


async def test_a_partition_that_no_mirror_heard_of_begins_where_its_sequences_do(
    tmp_path: Path,
) -> None:
    async with bus(tmp_path, partitions=4) as jetstream:
        for config in mirrored_configs(partitions=4):
            source = FIRST.source(config.name or "")
            await jetstream.add_stream(mirror_config(config, source, FIRST.api))
        await topology.apply(jetstream)
        log = NatsLog(jetstream)
        assert await log.end() == LogStreams(4).start()
        await promote_mirrors(jetstream)
        assert await topology.check(jetstream) == []
        for name in "abcd":
            sequence = await log.publish(sealed(added("new"), workspace=name))
            partition = partition_of(name, 4)
            assert sequence == first_sequence(partition)
            stream = stream_name(partition)

            async def is_pending(stream: str = stream) -> bool:
                info = await jetstream.consumer_info(stream, "chunker")
                return info.num_pending == 1

            await until(is_pending, "the event, where the chunker reads")


async def test_only_an_empty_bus_can_follow(tmp_path: Path) -> None:
    async with regions(tmp_path) as pair:
        await topology.apply(pair.second)
        with pytest.raises(InvalidInput, match="a log of its own"):
            await make_mirrors(pair.second, FIRST)


@of_one_stream_and_of_partitions
async def test_regions_of_an_older_log_come_to_share_subjects_one_after_the_other(
    tmp_path: Path, partitions: int
) -> None:
    async with regions(tmp_path, partitions) as pair:
        await make_older_log(pair.first, partitions)
        log = NatsLog(pair.first)
        await write(log, "a", "Before.")
        async with relaying(pair.relay):
            await made(pair)
            await mirrored(pair)
            place = (await log.end()).text
            for jetstream in (pair.second, pair.first):
                assert await topology.apply(jetstream, share_subjects=True)
                assert await topology.check(jetstream) == []
            await write(log, "b", "After.")
            await mirrored(pair)
        places = [await place_of_sharing(jetstream) for jetstream in (pair.first, pair.second)]
        assert places == [place, place]
        end = await log.last("w")
        stream = LogStreams(partitions).holding(end)
        assert (await pair.second.get_msg(stream, end)).subject == subjects.shared(
            subjects.subject("w", "b", "EntitiesExtracted")
        )
        of_b = NatsLog(pair.second).history("w", "b", "*")
        assert [message.sequence async for message in of_b] == [end - 2, end - 1, end]
        await promote_mirrors(pair.second)
        assert await topology.apply(pair.second) == []
        assert await place_of_sharing(pair.second) == place


async def place_of_sharing(jetstream: JetStreamContext) -> str:
    return ((await jetstream.stream_info(LOG)).config.metadata or {}).get(SHARED_KEY, "")
