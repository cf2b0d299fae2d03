"""Events of a version newer than the code, seen by commands: a rebuild goes on past them, and all
of them are shown.
"""

from pathlib import Path
from typing import Any

from nats.js import JetStreamContext

from contracts.topology import declared_consumer
from offline.embeddings.lexical import LexicalEmbedder
from operations.digest import Stores
from operations.event_lines import event_line
from operations.rebuild import Rebuild
from runtime.bus.nats.key_values import NatsLiveGenerations
from runtime.bus.nats.log import NatsLog
from runtime.bus.nats.parked import NatsParkedEvents
from runtime.bus.parking.counts import count_parked
from runtime.bus_examination import _backlog
from runtime.stores.documents.sqlite.store import SqliteRows
from runtime.stores.graph.memory import MemoryGraph
from runtime.stores.vectors.memory import MemoryVectors
from services.merger.settings import MergerSettings
from tests.support.events import added, sealed
from tests.support.nats_server import BusServer
from tests.support.upgraded_service import newer

MANY = declared_consumer("query-status").max_ack_pending + 8


async def rebuilt(jetstream: JetStreamContext, folder: Path) -> dict[str, Any]:
    rows = SqliteRows(folder / "rows.sqlite")
    await rows.prepare()
    stores = Stores(rows, MemoryGraph(), MemoryVectors("m", 2))
    pointers = await NatsLiveGenerations.bind(jetstream)
    parked_events = NatsParkedEvents(jetstream)
    rebuild = Rebuild(
        NatsLog(jetstream),
        pointers,
        stores,
        LexicalEmbedder(),
        ["status"],
        lambda _: None,
        MergerSettings(),
        parked_events=parked_events,
    )
    try:
        return await rebuild.run("default")
    finally:
        await rows.close()


async def test_a_rebuild_goes_on_past_newer_events_says_which_it_left_and_parks_them(
    server: BusServer, jetstream: JetStreamContext, tmp_path: Path
) -> None:
    log = NatsLog(jetstream)
    await log.publish(sealed(added("first", "Zoe knows Yan.")))
    for number in range(MANY):
        await jetstream.publish(*newer(f"d{number}", "Ahead"))
    await log.publish(sealed(added("last", "Yan knows Zoe."), id="last"))
    for _ in range(2):  # again is harmless
        result = await rebuilt(jetstream, tmp_path)
        assert (result["events"], len(result["newer"])) == (2, MANY)
        newer_event = result["newer"][0]
        assert (newer_event["sequence"], newer_event["type"], newer_event["version"]) == (
            2,
            "DocumentAdded",
            2,
        )
        assert (newer_event["workspace"], newer_event["document"]) == ("Ahead", "d0")
    (count,) = (await count_parked(NatsParkedEvents(jetstream))).counts
    assert (count.workspace, count.reason, count.events) == ("Ahead", "newer-version", MANY)
    assert (count.durables, count.first, count.version) == (("query-status",), 2, 2)
    assert (await count_parked(NatsParkedEvents(jetstream), "Ahead")).counts == [count]
    assert (await count_parked(NatsParkedEvents(jetstream), "other")).counts == []
    (finding,) = [
        results async for results in _backlog(jetstream, None) if results.level == "fault"
    ]
    assert f"workspace Ahead: {MANY} events of a version newer" in finding.what
    assert "DocumentAdded v2 of d0 at 2" in finding.what


async def test_the_log_shows_a_newer_event_as_one_and_not_as_an_error(
    jetstream: JetStreamContext,
) -> None:
    await jetstream.publish(*newer("A document", "default"))
    ((message,),) = [page async for page in NatsLog(jetstream).read()]
    line = event_line(message)
    assert (line.sequence, line.type, line.document) == (1, "DocumentAdded", "A document")
    assert line.gist.startswith("version 2: newer than this code")
