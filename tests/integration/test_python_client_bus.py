"""`publish_document` on a real bus: one call, an event of ours, and a reason for what cannot be
published.
"""

from typing import Any

import pytest
from nats.js import JetStreamContext

from contracts.events import DocumentAdded
from lightstream_rag.client import publish_document
from lightstream_rag.errors import InvalidRequest, Misconfigured
from runtime.bus.codec import decode
from runtime.bus.nats.blobs import NatsBlobs
from tests.support.nats_server import BusServer

ADA = "Ada Marlow sailed the Kestrel to Port Elm."


async def test_publishing_to_a_real_bus_is_one_call(
    server: BusServer, jetstream: JetStreamContext
) -> None:
    about: Any = {"file_path": "ada.md", "metadata": {"shelf": 3}, "track_id": "batch-7"}
    first = await publish_document(server.url, id="ada", text=ADA, workspace="Team.A", **about)
    again = await publish_document(server.url, id="ada", text=ADA, workspace="Team.A", **about)
    message = await jetstream.get_msg("KB_EVENTS", 1)
    assert ((first.id, first.sequence, first.is_new), (again.sequence, again.is_new)) == (
        ("ada", 1, True),
        (1, False),
    )
    envelope = decode(message.data or b"", message.subject or "")
    assert (envelope.workspace, envelope.source) == ("Team.A", "/lightstream/client")
    assert envelope.data == DocumentAdded(document_id="ada", text=ADA, **about)
    long_document = await publish_document(
        server.url, text="A text that stands beside the log. " * 20_000
    )
    message = await jetstream.get_msg("KB_EVENTS", long_document.sequence)
    event = decode(message.data or b"", message.subject or "").data
    assert isinstance(event, DocumentAdded)
    assert event.blob is not None
    assert len(await NatsBlobs(jetstream).get(event.blob)) == 700_000


async def test_what_cannot_be_published_says_why(
    server: BusServer, jetstream: JetStreamContext
) -> None:
    with pytest.raises(InvalidRequest, match="the text is empty"):
        await publish_document(server.url, text=" ")
    with pytest.raises(Misconfigured, match="a workspace has"):
        await publish_document(server.url, text="x", workspace="a b")
