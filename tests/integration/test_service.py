"""Real service processes on a real server: how they start, what they say of themselves, how they
end.
"""

import asyncio
import signal
from collections.abc import Generator
from pathlib import Path

import pytest
from nats.js import JetStreamContext

from contracts import subjects
from contracts.events import DocumentAdded, Event
from contracts.ids import sha256
from contracts.topology import STREAMS
from contracts.values import BlobRef
from embedded.processes import free_port, start_program
from runtime.bus import topology
from runtime.bus.codec import decode
from runtime.bus.nats.log import NatsLog
from runtime.stores.documents import schema
from runtime.stores.documents.sqlite.store import SqliteRows
from tests.support import services
from tests.support.events import added, sealed
from tests.support.mongo import mongo_server, mongo_uri
from tests.support.nats_server import BusServer, RunningNats, connected, until
from tests.support.services import durable, logs, page, service, spans
from tests.support.stalling import stalling

TRACE = "0af7651916cd43dd8448eb211c80319c"
PARENT = f"00-{TRACE}-b7ad6b7169203331-01"


@pytest.fixture(scope="module", autouse=True)
def as_programs() -> Generator[None]:
    """Services are started as programs here, as a deployment does it."""
    with pytest.MonkeyPatch.context() as context:
        context.setattr(services, "launch", start_program)
        yield


async def events(jetstream: JetStreamContext, event_type: str) -> list[Event]:
    """All events of a type in the log."""
    log = NatsLog(jetstream)
    return [
        decode(message.data, message.subject).data
        async for messages in log.read(0, [subjects.of_type(event_type)])
        for message in messages
    ]


async def until_there_are(jetstream: JetStreamContext, count: int, event_type: str) -> None:
    async def there() -> bool:
        return len(await events(jetstream, event_type)) >= count

    await until(there, f"{count} {event_type}")


async def test_a_service_waits_for_its_store_and_says_so(
    server: BusServer, jetstream: JetStreamContext, tmp_path: Path
) -> None:
    port = free_port()
    uri = mongo_uri(port).replace("://", "://user:hunter2@")
    store = mongo_server(tmp_path / "mongo", port)
    async with service(
        "extractor", tmp_path, wait=False, NATS_URL=server.url, DOCUMENTS_URL=uri
    ) as process:

        async def waiting() -> bool:
            return await page(process, "ready") == (
                503,
                {"service": "extractor", "problems": {"service": "waiting for the document store"}},
            )

        await until(waiting, "a page that names the document store")
        assert (await page(process, "live"))[0] == 200
        assert "hunter2" not in process.log.read_text()
        process.signal(signal.SIGTERM)
        assert await asyncio.wait_for(process.wait(), 15) == 0
    uri = mongo_uri(port)
    async with service(
        "extractor", tmp_path, wait=False, NATS_URL=server.url, DOCUMENTS_URL=uri
    ) as process:
        try:
            await store.start()
            await process.ready()
        finally:
            await store.stop()


@pytest.mark.own_nats
async def test_a_service_waits_for_its_bus_and_says_so(
    server: RunningNats, jetstream: JetStreamContext, tmp_path: Path
) -> None:
    await server.process.stop()
    async with service("chunker", tmp_path, wait=False, NATS_URL=server.url) as process:

        async def waiting() -> bool:
            return await page(process, "ready") == (
                503,
                {"service": "chunker", "problems": {"service": "waiting for the bus"}},
            )

        await until(waiting, "a page that names the bus")
        await server.restart()
        await process.ready()


@pytest.mark.own_nats
async def test_a_service_waits_for_a_bus_that_is_slow_when_it_starts(
    server: RunningNats, jetstream: JetStreamContext, tmp_path: Path
) -> None:
    # Let through until the client is connected, then silent for longer than any request of the
    # start waits.
    async with stalling(server.port, after=b"PONG") as stall:
        address = f"nats://127.0.0.1:{stall.port}"
        async with service("chunker", tmp_path, wait=False, NATS_URL=address) as process:

            async def waiting() -> bool:
                return any(
                    line["event"] == "waiting" and line.get("store") == "the bus"
                    for line in logs(process)
                )

            await until(waiting, "a line that names the bus")
            assert process.alive
            assert (await page(process, "ready"))[0] == 503
            stall.go_on()
            await process.ready()
            assert process.alive
        events = [line["event"] for line in logs(process)]
        assert events.index("waiting") < events.index("ready")


async def test_a_service_that_waits_for_its_bus_ends_when_told_to(tmp_path: Path) -> None:
    async with service(
        "chunker", tmp_path, wait=False, NATS_URL=f"nats://127.0.0.1:{free_port()}"
    ) as process:

        async def live() -> bool:
            return (await page(process, "live"))[0] == 200

        await until(live, "its health page")
        process.signal(signal.SIGTERM)
        assert await asyncio.wait_for(process.wait(), 15) == 0


@pytest.mark.parametrize(
    "fault", ["nothing was set up", "a stream differs", "a durable is missing", "a durable differs"]
)
async def test_a_service_refuses_to_start_on_a_bus_that_is_not_as_declared(
    server: BusServer, tmp_path: Path, fault: str
) -> None:
    async with connected(server) as client:
        jetstream = client.jetstream(timeout=5)
        reason = "lightstream topology apply"
        if fault != "nothing was set up":
            await topology.apply(jetstream)
        if fault == "a stream differs":
            events = topology.stream_config(
                next(stream for stream in STREAMS if stream.name == "KB_EVENTS")
            )
            await jetstream.update_stream(events.evolve(max_msg_size=5_000))
            reason = "KB_EVENTS: max_msg_size is 5000"
        elif fault == "a durable is missing":
            await jetstream.delete_consumer("KB_EVENTS", "chunker")
            reason = "durable chunker does not exist"
        elif fault == "a durable differs":
            result = (await jetstream.consumer_info("KB_EVENTS", "chunker")).config
            await jetstream.add_consumer("KB_EVENTS", result.evolve(ack_wait=3.0))
            reason = "chunker: ack_wait is 3"
        async with service("chunker", tmp_path, wait=False, NATS_URL=server.url) as process:
            assert await asyncio.wait_for(process.wait(), 30) == 1
            (line,) = [line for line in logs(process) if line["event"] == "cannot start"]
            assert reason in line["reason"]
            assert "lightstream topology apply" in line["reason"]
            assert "Traceback" not in process.log.read_text()


async def test_another_service_s_missing_durable_is_no_reason_to_refuse(
    server: BusServer, jetstream: JetStreamContext, tmp_path: Path
) -> None:
    await jetstream.delete_consumer("KB_EVENTS", "merger")
    async with service("chunker", tmp_path, NATS_URL=server.url) as process:
        assert process.alive


async def test_a_service_whose_durable_is_deleted_is_not_ready_and_names_it(
    server: BusServer, jetstream: JetStreamContext, tmp_path: Path
) -> None:
    async with service("chunker", tmp_path, NATS_URL=server.url) as process:
        await jetstream.delete_consumer("KB_EVENTS", "chunker")
        status, body = await page(process, "ready")
        assert (status, list(body["problems"])) == (503, ["chunker"])
        assert "does not answer" in body["problems"]["chunker"]
        assert (await page(process, "live"))[0] == 200


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
async def test_a_service_ends_in_good_order_when_told_to(
    server: BusServer, jetstream: JetStreamContext, tmp_path: Path, number: signal.Signals
) -> None:
    async with service("extractor", tmp_path, NATS_URL=server.url) as process:
        process.signal(number)
        assert await asyncio.wait_for(process.wait(), 15) == 0
        assert "Traceback" not in process.log.read_text()


async def test_one_trace_leads_from_the_publisher_through_two_services(
    server: BusServer, jetstream: JetStreamContext, tmp_path: Path
) -> None:
    env = {"NATS_URL": server.url, "OTEL_TRACES_EXPORTER": "console"}
    async with (
        service("chunker", tmp_path, **env) as chunker,
        service("extractor", tmp_path, **env) as extractor,
    ):
        text = "Marie Curie worked with Pierre Curie in Paris."
        await NatsLog(jetstream).publish(sealed(added("d", text), id="begin", traceparent=PARENT))
        await until_there_are(jetstream, 1, "EntitiesExtracted")

        async def ended() -> bool:
            return all(
                any(durable(span) == name for span in spans(process))
                for name, process in (("chunker", chunker), ("extractor", extractor))
            )

        await until(ended, "the spans of both services")
    by_name = {
        durable(span) or span["name"]: span
        for process in (chunker, extractor)
        for span in reversed(spans(process))
    }
    assert {span["context"]["trace_id"] for span in by_name.values()} == {f"0x{TRACE}"}
    assert by_name["chunker"]["parent_id"] == "0xb7ad6b7169203331"
    publish_spans = [span for span in spans(chunker) if span["name"] == "publish KB_EVENTS"]
    assert by_name["extractor"]["parent_id"] in {
        span["context"]["span_id"] for span in publish_spans
    }
    attributes = by_name["extractor"]["attributes"]
    assert (attributes["lightstream.document"], attributes["lightstream.workspace"]) == ("d", "w")
    assert set(by_name) == {
        "chunker",
        "extractor",
        "publish KB_EVENTS",
        "get extractions",
        "put extractions",
    }


async def test_logs_name_trace_workspace_and_document_and_no_secret(
    server: BusServer, jetstream: JetStreamContext, tmp_path: Path
) -> None:
    lost_document = DocumentAdded(
        document_id="lost", blob=BlobRef(sha256=sha256("gone"), size=4, parts=1)
    )
    async with service(
        "chunker", tmp_path, NATS_URL=server.url, LLM_API_KEY="sk-hunter2"
    ) as process:
        await NatsLog(jetstream).publish(
            sealed(lost_document, id="begin", traceparent=PARENT, workspace="tenant")
        )
        await until_there_are(jetstream, 1, "StageFailed")
    (line,) = [line for line in logs(process) if line["event"] == "dead-lettered"]
    assert (line["trace"], line["workspace"], line["document"]) == (TRACE, "tenant", "lost")
    assert (line["service"], line["level"], line["durable"]) == ("chunker", "error", "chunker")
    assert "is not in KB_BLOBS" in line["reason"]
    assert "hunter2" not in process.log.read_text()


async def test_a_secret_in_an_address_is_never_logged(tmp_path: Path) -> None:
    address = f"nats://user:hunter2@127.0.0.1:{free_port()}"
    async with service("chunker", tmp_path, wait=False, NATS_URL=address) as process:

        async def complained() -> bool:
            return len(logs(process)) >= 1

        await until(complained, "a complaint about the bus")
        await asyncio.sleep(0.5)
    assert "hunter2" not in process.log.read_text()


async def test_a_service_refuses_to_start_on_stores_of_newer_code(
    server: BusServer, jetstream: JetStreamContext, tmp_path: Path
) -> None:
    rows = SqliteRows(tmp_path / "rows.sqlite")
    await rows.prepare()
    await rows.put(schema.TABLE, {schema.KEY: {"version": schema.VERSION + 1}})
    await rows.close()
    async with service("merger", tmp_path, wait=False, NATS_URL=server.url) as process:
        assert await asyncio.wait_for(process.wait(), 40) == 1
    reasons = [line["reason"] for line in logs(process) if line["event"] == "cannot start"]
    assert [f"the stores have schema {schema.VERSION + 1}" in reason for reason in reasons] == [
        True
    ]
