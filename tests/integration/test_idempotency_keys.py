"""A request with an `Idempotency-Key` on a real server: several gateways at once, and a log that
has forgotten its ids.
"""

import asyncio
from collections.abc import Sequence
from contextlib import AsyncExitStack

import pytest
from nats.js import JetStreamContext

from contracts.partitions import LOG
from contracts.topology import DAY, REQUESTS_BUCKET
from publishing.documents import Added, add_document
from publishing.draft import DocumentDraft, Submission
from runtime.bus.nats.blobs import NatsBlobs
from runtime.bus.nats.key_values import NatsSharedValues
from runtime.bus.nats.log import NatsLog
from runtime.errors import InvalidInput
from services.gateway.documents.adding import (
    DocumentPublisher,
    IngestRequest,
    draft_text,
    publish_drafts,
)
from services.gateway.documents.request_records import RequestRecords
from tests.support.nats_server import BusServer, connected, until

GATEWAYS = 4
KEY = "order-66"


async def gateway(jetstream: JetStreamContext) -> DocumentPublisher:
    """What a gateway adds documents of a workspace with."""
    values = await NatsSharedValues.bind(jetstream, REQUESTS_BUCKET)
    return DocumentPublisher(NatsLog(jetstream), NatsBlobs(jetstream), "w", RequestRecords(values))


async def send(publisher: DocumentPublisher, text: str = "Ada Marlow rows.") -> list[Added]:
    """Add a text as `POST /documents/text` does."""
    request = IngestRequest.of("insert", KEY, text)
    return await publish_drafts(publisher, request, [await draft_text(request, text, "ada.md")])


async def update(jetstream: JetStreamContext, text: str) -> None:
    """Give the document another text, by a request without a key."""
    draft = DocumentDraft.of(Submission(text=text, file_path="ada.md", without_folders=True))
    await add_document(
        NatsLog(jetstream), NatsBlobs(jetstream), draft, workspace="w", source="tests"
    )


async def shorten_window(jetstream: JetStreamContext) -> None:
    """Have the log forget ids within a moment: from its first one on, for the timer of those that
    are there when a window gets shorter was once seen not to go off within 400 s.
    """
    config = (await jetstream.stream_info(LOG)).config
    await jetstream.update_stream(config.evolve(duplicate_window=0.1))


async def forget_ids(jetstream: JetStreamContext) -> None:
    """Wait until the log knows none of the ids that it was given."""
    subject = "kb.v1.w.other.DocumentDeleted"
    headers = {"Nats-Msg-Id": "known"}
    await jetstream.publish(subject, b"{}", headers=headers)

    async def forgotten() -> bool:
        return not (await jetstream.publish(subject, b"{}", headers=headers)).duplicate

    await until(forgotten, "the log has forgotten an id")


async def count(jetstream: JetStreamContext) -> int:
    """Return how many versions of the document are in the log."""
    subjects_filter = "kb.v1.w.*.DocumentAdded"
    info = await jetstream.stream_info(LOG, subjects_filter=subjects_filter)
    return sum((info.state.subjects or {}).values())


def places(documents: Sequence[Added]) -> list[Added]:
    """Return what an answer says of documents that the request itself added."""
    return [document._replace(is_new=True) for document in documents]


async def test_of_gateways_that_get_one_request_at_once_one_adds_it_and_all_say_the_same(
    server: BusServer, jetstream: JetStreamContext
) -> None:
    async with AsyncExitStack() as stack:
        clients = [await stack.enter_async_context(connected(server)) for _ in range(GATEWAYS)]
        publishers = [await gateway(client.jetstream(timeout=5)) for client in clients]
        answers = await asyncio.gather(*(send(publisher) for publisher in publishers))
    assert all(places(answer) == places(answers[0]) for answer in answers)
    assert await count(jetstream) == 1


async def test_of_different_requests_with_one_key_at_once_one_is_taken(
    jetstream: JetStreamContext,
) -> None:
    publisher = await gateway(jetstream)
    texts = [f"Ada Marlow rows to buoy {number}." for number in range(GATEWAYS)]
    outcomes = await asyncio.gather(
        *(send(publisher, text) for text in texts), return_exceptions=True
    )
    refusals = [outcome for outcome in outcomes if isinstance(outcome, InvalidInput)]
    assert (len(refusals), await count(jetstream)) == (GATEWAYS - 1, 1)


async def test_a_request_is_known_for_a_day_however_soon_the_log_forgets_ids(
    jetstream: JetStreamContext,
) -> None:
    await shorten_window(jetstream)
    publisher = await gateway(jetstream)
    first = await send(publisher)
    await update(jetstream, "Ada Marlow sails.")
    await forget_ids(jetstream)
    assert places(await send(publisher)) == first
    with pytest.raises(InvalidInput, match="Idempotency-Key"):
        await send(publisher, "Ada Marlow swims.")
    assert await count(jetstream) == 2
    assert (await jetstream.stream_info(f"KV_{REQUESTS_BUCKET}")).config.max_age == DAY


async def test_what_stood_there_already_does_not_come_back_over_a_newer_text(
    jetstream: JetStreamContext,
) -> None:
    await shorten_window(jetstream)
    await update(jetstream, "Ada Marlow rows.")
    publisher = await gateway(jetstream)
    first = await send(publisher)
    assert [document.is_new for document in first] == [False]
    await update(jetstream, "Ada Marlow sails.")
    await forget_ids(jetstream)
    assert await send(publisher) == first
    assert await count(jetstream) == 2
