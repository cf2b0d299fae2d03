"""Files whose pages have to be recognized are taken at once, and their track says how far they
are.
"""

import asyncio
from typing import Any

import httpx
import pytest
from PIL import Image

from contracts.ids import md5
from lightstream_rag.models import Added
from runtime.concurrency.fair_semaphore import FairSemaphore
from tests.support.nats_server import until
from tests.support.querying import QueryHarness, projected
from tests.support.scans import file_of, scan
from tests.unit.gateway.documents.test_uploads import added, send

WORDS = ["The register of ships is kept by Ada Lovelace"]


async def track(api: httpx.AsyncClient, track_id: str) -> list[dict[str, Any]]:
    return (await api.get(f"/documents/track_status/{track_id}")).json()["documents"]


async def test_a_picture_is_taken_at_once_and_becomes_a_document(
    api: httpx.AsyncClient, harness: QueryHarness
) -> None:
    data = file_of(scan(WORDS, size=(900, 260)))
    answer = await send(api, "ships.png", data)
    body = answer.json()
    assert (answer.status_code, body["message"]) == (
        202,
        "ships.png: 0 of 1 pages are recognized",
    )
    assert Added.model_validate(body).is_being_read
    [document] = await track(api, body["track_id"])
    assert (document["status"], document["id"]) == ("parsing", "doc-" + md5("ships.png"))
    assert document["metadata"] == {"recognized_pages": 0, "pages_to_recognize": 1}
    again = await send(api, "ships.png", data)
    assert (again.status_code, again.json()["track_id"]) == (202, body["track_id"])

    async def is_read() -> bool:
        return bool(added(harness))

    await until(is_read, "the text of the picture", seconds=120)
    await projected(harness)
    [document] = await track(api, body["track_id"])
    assert (document["status"], document["metadata"]["recognized_pages"]) == ("pending", 1)
    [event] = added(harness)
    assert "Ada Lovelace" in (event.text or "")
    second_track = (await send(api, "ships.png", data)).json()["track_id"]

    async def is_known() -> bool:
        [document] = await track(api, second_track)
        return document["status"] == "pending"

    await until(is_known, "the document that is there already", seconds=120)
    assert len(added(harness)) == 1


async def test_a_picture_without_text_ends_as_a_failed_document_with_the_reason(
    api: httpx.AsyncClient, harness: QueryHarness
) -> None:
    answer = await send(api, "blank.png", file_of(Image.new("L", (300, 300), 255)))

    async def has_failed() -> bool:
        [document] = await track(api, answer.json()["track_id"])
        return document["status"] == "failed"

    await until(has_failed, "the reason", seconds=120)
    [document] = await track(api, answer.json()["track_id"])
    assert document["error_msg"].startswith("blank.png: has no text")
    assert not added(harness)


async def test_a_turn_can_be_given_back_before_the_block_ends() -> None:
    turns = FairSemaphore(1)
    async with turns.hold("a") as release:
        release()
        async with turns.hold("b"):
            release()
            with pytest.raises(TimeoutError):
                async with asyncio.timeout(0.01), turns.hold("c"):
                    pass
    async with turns.hold("d"):
        pass
