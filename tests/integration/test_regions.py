"""A second region mirrors the log of the first: what is written and erased there, a cut between the
two, and how the second becomes the one that is written to.
"""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest
from nats.js import JetStreamContext

from contracts import subjects
from contracts.events import DocumentAdded
from contracts.graph import PROJECTIONS, Generations
from contracts.partitions import LOG
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
from runtime.bus.mirrors import make_mirrors, promote_mirrors
from runtime.bus.nats.blobs import NatsBlobs
from runtime.bus.nats.key_values import NatsLiveGenerations
from runtime.bus.nats.log import NatsLog
from runtime.bus.nats.log_integrity import observe
from runtime.bus.nats.mirrored_log import MirroredLog
from runtime.bus.nats.region import WritingRegion
from runtime.errors import InvalidInput, ReadOnlyRegion, Unavailable
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


@asynccontextmanager
async def bus(folder: Path, link: BusLink) -> AsyncGenerator[JetStreamContext]:
    """A bus of a region."""
    port = free_port()
    process = nats_server(folder, port=port, sync="default", options=BusOptions(link))
    await process.start()
    try:
        async with connected(RunningNats(process, port, None, folder)) as client:
            yield client.jetstream(timeout=5)
    finally:
        await process.stop()


@dataclass
class Regions:
    """Two buses whose link goes over a relay, and an open relay."""

    first: JetStreamContext
    second: JetStreamContext
    relay: Relay


@asynccontextmanager
async def regions(folder: Path) -> AsyncGenerator[Regions]:
    """Two regions: the second can reach the first while `relaying(relay)` is open."""
    ports = [free_port(), free_port()]
    relay = Relay(uncounted, port=free_port(), target=ports[0])
    remote = f"nats-leaf://region:secret@127.0.0.1:{relay.port}"
    async with (
        bus(folder / "first", BusLink("first", ports[0], "secret")) as first,
        bus(folder / "second", BusLink("second", ports[1], "secret", remote)) as second,
    ):
        await topology.apply(first)
        yield Regions(first, second, relay)


async def write(log: NatsLog, id: str, text: str) -> None:
    """What a document of one chunk leaves in the log."""
    version = await log.publish(sealed(added(id, text), id=f"{id}-added"))
    of = document(id, version, file_path=f"{id}.txt")
    await log.publish(sealed(chunked(of, text), id=f"{id}-chunked"))
    extraction = extracted(of, 0, [entity("Quayford"), entity(f"Person {id}", description=text)])
    await log.publish(sealed(extraction, id=f"{id}-extracted"))


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


async def digests(work: Rebuild) -> list[str]:
    live = Generations()
    return [(await digest(name, "w", live, work.stores)).sha256 for name in PROJECTIONS]


async def rebuilt(jetstream: JetStreamContext) -> list[str]:
    """The digests of stores that are made from this log alone."""
    work = await work_on(jetstream)
    await work.catch_up()
    return await digests(work)


async def ends(jetstream: JetStreamContext) -> list[int]:
    """The ends of the log and of the texts beside it."""
    infos = [await jetstream.stream_info(name) for name in (LOG, "KB_BLOBS")]
    return [info.state.last_seq for info in infos]


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


async def test_a_region_follows_over_a_cut_erases_and_is_promoted(tmp_path: Path) -> None:
    async with regions(tmp_path) as both:
        log = NatsLog(both.first)
        ref = await NatsBlobs(both.first).put(EncodedText.of(f"{CANARY} {'x' * 300_000}"), "w")
        long = DocumentAdded(document_id="long", blob=ref, file_path="long.txt")
        await log.publish(sealed(long, id="long-added"))
        await write(log, "secret", f"Osric keeps the {CANARY}.")
        await write(log, "kept", "Mira built the lighthouse.")
        async with relaying(both.relay):
            await made(both)
            await mirrored(both)
            assert await topology.check(both.second) == []
            with pytest.raises(ReadOnlyRegion, match=r"region first, at https://first\.example"):
                await NatsLog(both.second).publish(sealed(added("here")))
            follower = await follower_of(both)
            work = await work_on(both.second)
            readers_log = MirroredLog(both.second)
            assert await readers_log.last("w") == 0, "the stores of this region are empty"
            assert await follower.apply(work)
            assert await readers_log.last("w") == await readers_log.handled() == 7
            assert await digests(work) == await rebuilt(both.first)
        # The link is cut.
        await write(log, "late", "Tamsin rings the bell.")
        await write(log, "late", "Tamsin rings the bell.")
        for id in ("secret", "long"):
            plan = await plan_erasure(both.first, "w", id)
            await publish_tombstones(both.first, plan, "asked for")
            await remove(both.first, plan)
        assert files_with(tmp_path / "first", CANARY.encode()) == []
        assert files_with(tmp_path / "second", CANARY.encode())
        async with relaying(both.relay):
            await mirrored(both)
            assert (await observe(both.second, LOG)).missing_count == 0, (
                "no hole is taken for a loss"
            )
            await follower.remove_erased()
            assert files_with(tmp_path / "second", CANARY.encode()) == []
            assert follower.progress.is_erasing, "until its stores are made anew"
            assert await rebuilt(both.second) == await rebuilt(both.first)
            assert await follower.apply(work)
            follower.progress = await settled(follower)
            status = await read_status(both.first)
            assert [(f.region, f.position) for f in status.followers] == [("second", status.end)]
        await promoted(both)


async def settled(follower: Follower) -> Any:
    """The progress of a follower that has told the other region where it is."""
    await follower.note()
    assert follower.progress.floors.keys() == {consumer.name for consumer in CONSUMERS}
    return follower.progress


async def promoted(both: Regions) -> None:
    """The second region goes on where the first one stood, which is away."""
    end = (await both.second.stream_info(LOG)).state.last_seq
    promotion = await plan_promotion(both.second)
    assert (promotion.end, promotion.missing_events, promotion.answers) == (end, 0, False)
    await promote(both.second, promotion)
    assert await topology.check(both.second) == []
    with pytest.raises(InvalidInput, match="writes the log"):
        await plan_promotion(both.second)
    log = NatsLog(both.second)
    info = await both.second.consumer_info(LOG, "chunker")
    assert info.num_pending == 2, "what nobody handled there is handled here"
    assert await log.publish(sealed(added("new"), id="new-added")) == end + 1
    assert await log.publish(sealed(added("new"), id="new-added")) == end + 1
    assert (await both.first.stream_info(LOG)).state.last_seq == end


async def test_only_an_empty_bus_can_follow(tmp_path: Path) -> None:
    async with regions(tmp_path) as both:
        await topology.apply(both.second)
        with pytest.raises(InvalidInput, match="a log of its own"):
            await make_mirrors(both.second, FIRST)


async def test_regions_of_an_older_log_come_to_share_subjects_one_after_the_other(
    tmp_path: Path,
) -> None:
    async with regions(tmp_path) as both:
        await make_older_log(both.first)
        log = NatsLog(both.first)
        await write(log, "a", "Before.")
        async with relaying(both.relay):
            await made(both)
            await until(partial(holds, both.second, 3), "the mirror has what there is")
            for jetstream in (both.second, both.first):
                assert await topology.apply(jetstream, share_subjects=True)
                assert await topology.check(jetstream) == []
            await write(log, "b", "After.")
            await until(partial(holds, both.second, 6), "the mirror has the rest")
        places = [await place_of_sharing(jetstream) for jetstream in (both.first, both.second)]
        assert places == ["3", "3"]
        assert (await both.second.get_msg(LOG, 6)).subject == subjects.shared(
            subjects.subject("w", "b", "EntitiesExtracted")
        )
        of_b = NatsLog(both.second).history("w", "b", "*")
        assert [message.sequence async for message in of_b] == [4, 5, 6]
        await promote_mirrors(both.second)
        assert await topology.apply(both.second) == []
        assert await place_of_sharing(both.second) == "3"


async def holds(jetstream: JetStreamContext, last: int) -> bool:
    return (await jetstream.stream_info(LOG)).state.last_seq == last


async def place_of_sharing(jetstream: JetStreamContext) -> str:
    return ((await jetstream.stream_info(LOG)).config.metadata or {}).get(SHARED_KEY, "")
