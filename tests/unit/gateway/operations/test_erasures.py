"""Erasures over HTTP: a request deletes at once and waits for an operator, and what was erased is
listed.
"""

from typing import Any

from contracts.events import DocumentErased, ErasureRequested
from tests.support.access import READER, SEVERAL, WRITER, behind, client, keyed
from tests.support.events import added, sealed
from tests.support.querying import QueryHarness

ERASURES = "/operations/erasures"


async def test_a_request_deletes_the_document_and_is_listed_until_it_is_erased() -> None:
    harness = QueryHarness()
    await harness.log.publish(sealed(added("port"), workspace="w"))
    async with client(harness.app()) as api:
        body = {"document_ids": ["port", "nothing"], "reason": "request 17"}
        answer = await api.post(ERASURES, json=body)
        await api.post(ERASURES, json=body)
        erasures = (await api.get(ERASURES)).json()
    assert (answer.status_code, answer.json()) == (
        202,
        {"requested": ["port"], "unknown": ["nothing"]},
    )
    assert erasures == {"requested": ["port"], "erased": [], "before": None}
    kinds = [message.subject.rpartition(".")[2] for message in harness.log.messages]
    assert kinds == ["DocumentAdded", "ErasureRequested", "DocumentDeleted"]


async def test_what_was_erased_is_listed_with_the_hash_of_its_receipt() -> None:
    harness = QueryHarness()
    await harness.log.publish(sealed(DocumentErased(document_id="port"), workspace="w", id="begun"))
    completion = DocumentErased(document_id="port", part=1, receipt="a" * 64, reason="request 17")
    await harness.log.publish(sealed(completion, workspace="w", id="ended"))
    async with client(harness.app()) as api:
        erasures = (await api.get(ERASURES)).json()
    (erasure,) = erasures["erased"]
    assert (erasure["document"], erasure["receipt"], erasure["reason"]) == (
        "port",
        "a" * 64,
        "request 17",
    )


async def test_a_reader_sees_erasures_and_asks_for_none_and_a_writer_none_elsewhere() -> None:
    harness = QueryHarness()
    await harness.log.publish(sealed(added("port"), workspace="w"))
    app = harness.app(behind(lightstream_api_keys=SEVERAL))
    body = {"document_ids": ["port"]}
    async with keyed(app, READER, "w") as api:
        assert (await api.get(ERASURES)).status_code == 200
        assert (await api.post(ERASURES, json=body)).status_code == 403
    async with keyed(app, WRITER, "v") as api:
        assert (await api.post(ERASURES, json=body)).json() == {
            "requested": [],
            "unknown": ["port"],
        }
    assert len(harness.log.messages) == 1


async def test_the_newest_erasures_show_first_and_one_place_goes_on_with_both_lists() -> None:
    harness = QueryHarness()
    for number in range(1100):
        id = f"doc-{number}"
        begun = DocumentErased(document_id=id)
        ended = DocumentErased(document_id=id, part=1, receipt="a" * 64)
        await harness.log.publish(sealed(begun, workspace="w", id=f"begun {number}"))
        await harness.log.publish(sealed(ended, workspace="w", id=f"ended {number}"))
        if number % 5 == 4:
            request = ErasureRequested(document_id=f"other-{number}")
            await harness.log.publish(sealed(request, workspace="w", id=f"asked {number}"))
    pages: list[dict[str, Any]] = []
    async with client(harness.app()) as api:
        before: int | None = None
        while before is not None or not pages:
            limits = {"limit": 400} if before is None else {"limit": 400, "before": before}
            pages.append((await api.get(ERASURES, params=limits)).json())
            before = pages[-1]["before"]
        newest_page = (await api.get(ERASURES)).json()
    assert [len(page["erased"]) for page in pages] == [400, 400, 300]
    assert [erased["document"] for page in pages for erased in page["erased"]] == [
        f"doc-{number}" for number in reversed(range(1100))
    ]
    assert [id for page in pages for id in page["requested"]] == [
        f"other-{number}" for number in reversed(range(4, 1100, 5))
    ]
    assert newest_page["erased"][0]["document"] == "doc-1099"
    assert len(newest_page["erased"]) == 1000
