"""Files that other systems hand in on a real bus become documents, or dead letters."""

import asyncio
from pathlib import Path

import nats
import pytest
from nats.errors import Error as NatsError
from nats.js import JetStreamContext

from contracts.events import DocumentAdded
from operations.bus_accounts import publisher_of
from operations.erasure.plan import plan_erasure
from operations.intake.reader import Intake, IntakeCounts
from publishing.redriving import redrive
from runtime.bus import topology
from runtime.bus.codec import decode
from runtime.bus.nats.connection import connected
from runtime.bus.nats.dead_letters import NatsDeadLetters
from runtime.bus.nats.log import NatsLog
from runtime.errors import InvalidInput
from tests.support.deployed_bus import deployed_bus

PAGE = b"<html><body><h1>Office</h1><p>Ada Marlow leads it.</p></body></html>"


async def take_in(jetstream: JetStreamContext) -> IntakeCounts:
    reader = Intake(jetstream, lambda _: None)
    await reader.read(asyncio.Event(), once=True)
    return reader.counts


async def current(jetstream: JetStreamContext, id: str) -> DocumentAdded:
    message = await NatsLog(jetstream).newest("harbour", id, "DocumentAdded")
    assert message
    event = decode(message.data, message.subject, message.headers).data
    assert isinstance(event, DocumentAdded)
    return event


async def test_files_become_documents_and_what_is_none_a_dead_letter(
    jetstream: JetStreamContext,
) -> None:
    await topology.apply_intake(jetstream)
    await topology.apply_intake(jetstream)

    async def hand_in(data: bytes, **headers: str) -> None:
        names = {name.replace("_", "-"): value for name, value in headers.items()}
        await jetstream.publish("kb.in.harbour", data, headers=names)

    await hand_in(
        PAGE, document_id="office", content_type="text/html; charset=utf-8", metadata_owner="ada"
    )
    await hand_in(b"name,pay\nAda,3\n", file_name='"pay.csv"')  # as Debezium writes headers
    await hand_in(b"A note.")
    store = await jetstream.create_object_store("scans")
    await store.put("mill.txt", b"Celia Stone grinds barley.")
    await hand_in(b"", document_id="mill", object_store="scans", object_name="mill.txt")
    counts = await take_in(jetstream)
    assert counts == IntakeCounts(additions=4)
    office = await current(jetstream, "office")
    assert office.text and office.text.startswith("# Office") and "<p>" not in office.text
    assert office.metadata["owner"] == "ada"
    assert (await current(jetstream, "mill")).text == "Celia Stone grinds barley."

    await hand_in(PAGE, document_id="office", content_type="text/html")
    await hand_in(b"", document_id="mill", operation="delete")
    await hand_in(b"\x89PNG\r\n\x1a\n", document_id="office", file_name="office.png")
    await hand_in(b"x", operation="fly")
    await hand_in(b"", object_store="scans", object_name="none")
    await hand_in(b"x", workspace="other")
    counts = await take_in(jetstream)
    assert counts == IntakeCounts(repetitions=1, deletions=1, refusals=4)
    assert (await jetstream.stream_info("KB_INTAKE")).state.messages == 0
    letters = await NatsDeadLetters(jetstream).headers()
    assert [letter.consumer for letter in letters] == ["intake"] * 4
    reasons = " ".join(letter.reason for letter in letters)
    for reason in ("office.png", "operation 'fly'", "no such object", "header workspace"):
        assert reason in reasons
    with pytest.raises(InvalidInput, match="hand it in again"):
        await redrive(NatsDeadLetters(jetstream), NatsLog(jetstream), letters[0], source="/t")
    # A refused file of a document goes with it.
    plan = await plan_erasure(jetstream, "harbour", "office")
    assert plan.letters == [letters[0].number]


async def test_who_may_hand_in_files_may_do_nothing_else(tmp_path: Path) -> None:
    feeder = publisher_of("feeder", ["harbour"], only_intake=True)
    async with (
        deployed_bus(tmp_path, feeder) as bus,
        connected(bus.operator, name="test") as operator,
    ):
        await topology.apply(operator.jetstream())
        await topology.apply_intake(operator.jetstream())
        client = await nats.connect(bus.url("feeder"), error_cb=_ignored)
        await client.jetstream().publish("kb.in.harbour", b"A note.", stream="KB_INTAKE")
        for subject in ("kb.in.other", "kb.v1.harbour.d.DocumentAdded", "blob.harbour.x.0"):
            with pytest.raises(NatsError):
                await client.request(subject, b"x", timeout=1)
        await client.close()
        assert (await take_in(operator.jetstream())).additions == 1


async def _ignored(error: Exception) -> None:
    """A refusal is expected."""
