"""`lightstream_rag.client`, waiting and for asyncio, against a query service that listens and
services that work.
"""

import asyncio
import io
from collections.abc import AsyncIterator, Sequence
from pathlib import Path

import pytest
import pytest_asyncio

from lightstream_rag.errors import (
    AccessDenied,
    Conflict,
    InvalidRequest,
    Misconfigured,
    NotFound,
    RateLimited,
    StillProcessing,
    TooLarge,
    Unavailable,
)
from lightstream_rag.models import Document
from services.gateway.settings import GatewaySettings
from services.query.adapters.models import ModelAnswerGenerator
from tests.support.access import KEY, PASSWORD, READER, SEVERAL, behind, with_accounts
from tests.support.clients import KINDS, EitherClient, Kind, client
from tests.support.openai_provider import serving
from tests.support.pipeline import working
from tests.support.querying import QueryHarness, library_of_two
from tests.support.served import served

ADA = "Ada Marlow sailed the Kestrel to Port Elm. Celia Finch met Ada Marlow there."
PELL = "Dorian Pell sold salt in Quinnsbridge."


@pytest.fixture(params=KINDS)
def kind(request: pytest.FixtureRequest) -> Kind:
    return request.param


@pytest_asyncio.fixture
async def api(kind: Kind) -> AsyncIterator[EitherClient]:
    """A client of a service with an empty workspace, and all other services at work."""
    harness = QueryHarness()
    deps = harness.deps(cache_bytes=2**20)
    async with (
        working(harness),
        served(harness.app(answering=deps)) as url,
        client(kind, url, workspace="w") as api,
    ):
        yield api


async def test_from_texts_to_an_answer_to_nothing_left(api: EitherClient) -> None:
    reports: list[Sequence[Document]] = []
    addition = await api.add_texts([ADA, PELL], ["ada.txt", "pell.txt"])
    states = await api.wait(addition, progress=reports.append)
    assert [(document.file_path, document.status) for document in states] == [
        ("ada.txt", "processed"),
        ("pell.txt", "processed"),
    ]
    assert reports[-1] == states
    assert (await api.track_status(addition.track_id)).total_count == 2
    assert {"processed": 2, "all": 2}.items() <= (await api.status_counts()).items()
    answer = await api.query("Who sailed the Kestrel?", mode="naive")
    assert "Ada Marlow" in answer.response
    assert answer.references[0].file_path == "ada.txt"
    assert (await api.health()).workspace == "w"
    assert (
        "2 of 2"
        in (await api.delete_documents([document.id for document in addition.documents])).message
    )
    while await api.all_documents():
        await asyncio.sleep(0.01)


async def test_the_same_text_again_is_found_where_it_stands(api: EitherClient) -> None:
    first = await api.add_text(ADA, "ada.txt")
    await api.wait(first)
    again = await api.add_text(ADA, "ada.txt")
    assert (first.status, again.status, again.track_id) == ("success", "duplicated", first.track_id)
    assert (first.new, again.new) == (first.documents, [])
    assert [document.id for document in again.documents] == [
        document.id for document in first.documents
    ]
    assert (await api.track_status(again.track_id)).total_count == 1
    assert [document.status for document in await api.wait(again)] == ["processed"]


async def test_a_key_of_the_callers_own_makes_two_calls_one(api: EitherClient) -> None:
    first = await api.add_text(ADA, "ada.txt", idempotency_key="one")
    assert await api.add_text(ADA, "ada.txt", idempotency_key="one") == first
    with pytest.raises(InvalidRequest, match="Idempotency-Key"):
        await api.add_text(PELL, "ada.txt", idempotency_key="one")


async def test_files_are_uploaded_from_a_path_and_from_memory(
    api: EitherClient, tmp_path: Path
) -> None:
    path = tmp_path / "Größe 港.md"
    path.write_text(ADA, "utf-8")
    addition = await api.upload(path)
    assert [document.file_path for document in await api.wait(addition)] == ["Größe 港.md"]
    assert (await api.upload(path)).new == []
    with pytest.raises(Conflict, match="replace=true") as error:
        await api.upload(io.BytesIO(PELL.encode()), path.name)
    assert (error.value.status, error.value.detail.startswith("there is another")) == (409, True)
    replacement = await api.upload(io.BytesIO(PELL.encode()), path.name, replace=True)
    assert (await api.wait(replacement))[0].sequence > addition.documents[0].sequence
    with pytest.raises(Misconfigured, match="needs a name"):
        await api.upload(io.BytesIO(b"x"))


async def test_all_documents_are_more_than_a_page(
    api: EitherClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    names = [f"{number:02d}.txt" for number in range(23)]
    await api.wait(await api.add_texts([f"{name} is about salt." for name in names], names))
    monkeypatch.setattr("lightstream_rag.documents.PAGE_SIZE", 10)
    result = await api.all_documents()
    assert sorted(document.file_path for document in result) == names
    assert [document.id for document in result] == sorted(document.id for document in result)
    page = await api.list_documents(3, 10, sort_field="file_path", sort_direction="asc")
    assert [document.file_path for document in page.documents] == names[20:]
    assert (page.pagination.total_count, page.pagination.has_next) == (23, False)
    assert await api.all_documents(status_filters=["failed"]) == []
    ids = [document.id for document in result]
    assert await api.documents_by_id([*ids, "nobody"]) == result
    assert await api.documents_named([*names[:12], ids[0], "nobody"]) == [
        document for document in result if document.file_path in names[:12] or document.id == ids[0]
    ]
    assert (await api.documents_named([]), await api.documents_by_id([])) == ([], [])


async def test_waiting_ends_when_its_time_is_over(kind: Kind) -> None:
    harness = QueryHarness()  # whose services do nothing
    async with served(harness.app()) as url, client(kind, url) as api:
        addition = await api.add_text(ADA)
        with pytest.raises(StillProcessing, match="1 of 1 documents"):
            await api.wait(addition, timeout=0.3)


async def test_the_graph_is_read_and_edited(api: EitherClient) -> None:
    await api.wait(await api.add_text(ADA, "ada.txt"))
    assert {"Ada Marlow", "Port Elm"} <= set(await api.entity_names())
    assert "Port Elm" in await api.popular_entities(limit=10)
    assert await api.search_entities("marlow") == ["Ada Marlow"]
    assert [await api.entity_exists(name) for name in ("Port Elm", "port elm")] == [True, False]
    creation = await api.create_entity("Graywick", "A town on the coast.", type="location")
    assert (creation.status, creation.data["graph_data"]["entity_type"]) == ("success", "location")
    await api.create_relation(
        "Graywick", "Port Elm", "A road joins them.", keywords=["road"], weight=2.0
    )
    edit = await api.edit_relation(
        "Graywick", "Port Elm", description="A ferry joins them.", keywords=["ferry"]
    )
    assert edit.data["graph_data"]["keywords"] == "ferry"
    assert (await api.edit_entity("Graywick", description="A town.")).data["graph_data"][
        "description"
    ] == "A town."
    renaming = await api.edit_entity("Port Elm", new_name="Elmhaven")
    assert renaming.operation_summary["renamed"] is True
    around = await api.subgraph("Graywick", max_depth=1)
    assert {node.id for node in around.nodes} == {"Graywick", "Elmhaven"}
    assert [edge.properties["description"] for edge in around.edges] == ["A ferry joins them."]
    await api.delete_relation("Graywick", "Elmhaven")
    await api.merge_entities(["Graywick"], "Elmhaven")
    await api.delete_entity("Elmhaven")
    assert not {"Graywick", "Elmhaven"} & set(await api.entity_names())
    with pytest.raises(NotFound, match="no entity of the name 'Elmhaven'"):
        await api.delete_entity("Elmhaven")


async def test_an_edit_that_does_not_show_yet_says_so(kind: Kind) -> None:
    harness = await library_of_two()
    app = harness.app(settings=GatewaySettings(workspace="w", edit_timeout=0.05))
    async with served(app) as url, client(kind, url) as api:
        assert (await api.create_entity("Graywick", "A town.")).status == "pending"


async def test_what_an_answer_would_rest_on(kind: Kind) -> None:
    harness = await library_of_two()
    async with served(harness.app()) as url, client(kind, url) as api:
        result = await api.query_data("Who discovered radium?", filter={"document_ids": ["curie"]})
        assert {chunk["file_path"] for chunk in result.data["chunks"]} == {"curie.txt"}
        answer = await api.query(
            "Who discovered radium?", mode="naive", include_chunk_locations=True
        )
        assert answer.references[0].chunks[0].document_id == "curie"
        with pytest.raises(InvalidRequest, match="too short"):
            await api.query_data("a")


async def test_an_answer_comes_in_pieces(kind: Kind) -> None:
    harness = await library_of_two()
    async with serving() as provider:
        chat = provider.chat("good")
        app = harness.app(answering=harness.deps(answer_generator=ModelAnswerGenerator(chat)))
        async with served(app) as url, client(kind, url) as api:
            pieces = await api.streamed("Who discovered radium?", mode="mix", include_progress=True)
        await chat.close()
    assert "".join(piece.response for piece in pieces) == "the whole answer"
    assert [reference.file_path for piece in pieces for reference in piece.references or ()] == [
        "curie.txt"
    ]
    assert "generating_response" in {piece.progress for piece in pieces}
    assert (pieces[-1].response_time or 0) > 0


async def test_closing_an_answer_ends_the_models_work(kind: Kind) -> None:
    harness = await library_of_two()
    async with serving() as provider:
        chat = provider.chat("endless")
        app = harness.app(answering=harness.deps(answer_generator=ModelAnswerGenerator(chat)))
        async with served(app) as url, client(kind, url) as api:
            pieces = await api.streamed("Who discovered radium?", most=3)
            assert len(pieces) == 3
            await asyncio.wait_for(provider.disconnected.wait(), 60)
        await chat.close()


async def test_a_stream_that_cannot_begin_is_an_error_of_its_own(api: EitherClient) -> None:
    with pytest.raises(InvalidRequest, match="too short") as error:
        await api.streamed("a")
    assert error.value.status == 422


async def test_credentials_open_what_they_are_for_and_are_in_no_message(kind: Kind) -> None:
    app = (await library_of_two()).app(behind(lightstream_api_keys=SEVERAL))
    async with served(app) as url:
        async with client(kind, url) as stranger:
            with pytest.raises(AccessDenied, match="API Key required; give a key"):
                await stranger.status_counts()
        async with client(kind, url, api_key=READER, workspace="w") as reader:
            assert (await reader.status_counts())["all"] == 2
            with pytest.raises(AccessDenied, match="may read only") as error:
                await reader.add_text("x")
        assert READER not in f"{error.value!r} {reader.client!r} {vars(reader.client)}"


async def test_who_logs_in_goes_on_with_the_token_and_its_successors(kind: Kind) -> None:
    app = (await library_of_two()).app(with_accounts(token_renew_threshold=1.0))
    async with served(app) as url, client(kind, url, workspace="w") as ada:
        with pytest.raises(AccessDenied, match="Please login"):
            await ada.status_counts()
        with pytest.raises(AccessDenied, match="Incorrect credentials"):
            await ada.login("ada", "wrong password")
        login = await ada.login("ada", PASSWORD)
        token = login.access_token.get_secret_value()
        assert token not in repr(login) + repr(ada.client)
        assert (await ada.status_counts())["all"] == 2
        assert (await ada.health()).workspace == "w"
        async with client(kind, url, token=token, workspace="w") as other_client:
            assert (await other_client.query("Who discovered radium?")).response


async def test_who_asks_too_often_waits_as_long_as_it_is_told(kind: Kind) -> None:
    app = (await library_of_two()).app(behind(lightrag_api_key=KEY, rate_limit_per_minute=60))
    async with served(app) as url:
        async with client(kind, url, api_key=KEY, workspace="w") as patient:
            assert [await patient.status_counts() for _ in range(62)]
        async with client(kind, url, api_key=KEY, workspace="w", attempts=1) as hasty:
            with pytest.raises(RateLimited, match="too many requests") as error:
                for _ in range(62):
                    await hasty.status_counts()
            assert (error.value.status, error.value.retry_after) == (429, 1.0)


async def test_a_file_that_is_too_large_is_refused_with_the_limit(
    kind: Kind, tmp_path: Path
) -> None:
    harness = QueryHarness()
    path = tmp_path / "large.txt"
    path.write_bytes(b"salt and honey. " * 500_000)
    app = harness.app(settings=GatewaySettings(workspace="w", max_upload_size=100_000))
    async with served(app) as url, client(kind, url) as api:
        with pytest.raises(TooLarge, match="100,000 bytes"):
            await api.upload(path)


class Counted(io.BytesIO):
    """A file that remembers how much of it was asked for at once."""

    def __init__(self, data: bytes) -> None:
        super().__init__(data)
        self.sizes: list[int] = []

    def read(self, size: int | None = -1) -> bytes:
        self.sizes.append(-1 if size is None else size)
        return super().read(size)


async def test_a_file_is_never_read_as_a_whole(api: EitherClient) -> None:
    file = Counted(ADA.encode() * 20_000)
    assert (await api.upload(file, "long.txt")).new
    assert len(file.sizes) > 20
    assert 0 < min(file.sizes) <= max(file.sizes) <= 128 * 1024


async def test_nobody_at_the_address(kind: Kind) -> None:
    async with client(kind, "http://127.0.0.1:9", attempts=2) as api:
        with pytest.raises(
            Unavailable, match=r"does not answer /documents/status_counts \(ConnectError\)"
        ):
            await api.status_counts()
