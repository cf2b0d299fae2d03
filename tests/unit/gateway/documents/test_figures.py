"""Figures of documents: given to who sees the document, as it is and as it was."""

import httpx
import pytest

from contracts.events import DocumentAdded
from services.gateway.settings import GatewaySettings
from tests.support.access import behind, client, keyed
from tests.support.pictures import picture, word_file
from tests.support.querying import QueryHarness, events, projected

READER = "reads-0123456789abcdef"
LAWYER = "reads-law-0123456789abcdef"
SETTINGS = GatewaySettings(workspace="w")
BEFORE = picture(bar=40)
AFTER = picture(bar=90)


async def added(harness: QueryHarness, api: httpx.AsyncClient, data: bytes) -> tuple[str, str]:
    """Return where the picture of a new version of the document stands, and the document's id."""
    path = "/documents/upload?replace=true"
    answer = await api.post(path, files={"file": ("port.docx", word_file(data))})
    assert answer.status_code == 200, answer.text
    await projected(harness)
    event = events(harness)[-1]
    assert isinstance(event, DocumentAdded)
    (figure,) = event.figures
    return f"/documents/{event.document_id}/figures/{figure.sha256}", event.document_id


async def test_a_figure_comes_back_byte_for_byte_as_the_picture_that_it_is() -> None:
    harness = QueryHarness()
    async with client(harness.app(settings=SETTINGS)) as api:
        address, id = await added(harness, api, AFTER)
        answer = await api.get(address)
        assert (answer.content, answer.headers["content-type"]) == (AFTER, "image/png")
        assert answer.headers["x-content-type-options"] == "nosniff"
        assert "sandbox" in answer.headers["content-security-policy"]
        assert (await api.get(f"/documents/{id}/figures/{'0' * 64}")).status_code == 404
        assert (await api.get(f"/documents/{id}/figures/..%2Fx")).status_code in (404, 422)


async def test_a_figure_of_an_earlier_version_is_there_as_of_then() -> None:
    harness = QueryHarness()
    async with client(harness.app(settings=SETTINGS)) as api:
        earlier, id = await added(harness, api, BEFORE)
        later, _ = await added(harness, api, AFTER)
        codes = [
            (await api.get(address, params=query)).status_code
            for address in (earlier, later)
            for query in ({}, {"as_of": "1"})
        ]
        assert codes == [404, 200, 200, 404]
        await api.request("DELETE", "/documents/delete_document", json={"doc_ids": [id]})
        await projected(harness)
        assert (await api.get(later)).status_code == 404


@pytest.mark.parametrize("query", [{}, {"as_of": "now"}])
async def test_who_does_not_see_the_document_does_not_get_its_figures(
    query: dict[str, str],
) -> None:
    harness = QueryHarness()
    access = behind(
        lightstream_api_keys=f"reader:{READER}:w:read,lawyer:{LAWYER}:w:read",
        lightstream_principals="key:reader=user:bo, key:lawyer=user:ann group:legal",
    )
    async with client(harness.app(settings=SETTINGS)) as api:
        address, id = await added(harness, api, AFTER)
        change = {"access": {"allow": ["group:legal"]}}
        await api.put("/documents/access", params={"doc_id": id}, json=change)
        await projected(harness)
    app = harness.app(access, settings=SETTINGS)
    codes: list[int] = []
    for key in (READER, LAWYER):
        async with keyed(app, key, "w") as api:
            codes.append((await api.get(address, params=query)).status_code)
    assert codes == [404, 200]
