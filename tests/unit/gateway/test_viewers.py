"""Who does not see all documents sees nothing of the others, on any route."""

import re
import time
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import httpx
import jwt
import pytest
import pytest_asyncio
from fastapi import FastAPI

from contracts.access import Access
from services.gateway.auth.credentials import ISSUER
from services.gateway.auth.viewers import CLOSED
from tests.support.access import SECRET, bearing, behind, keyed
from tests.support.described_routes import described_routes, error_sentence
from tests.support.events import entity, relation
from tests.support.querying import QueryHarness, projected

ADMIN, ANN, BO, PORTAL = (f"k-{name}-0123456789abcdef" for name in ("adm", "ann", "bo", "portal"))
KEYS = f"adm:{ADMIN}:*:write,ann:{ANN}:w:read,bo:{BO}:w:read,portal:{PORTAL}:w:read"
PRINCIPALS = "key:ann=user:ann group:legal, key:bo=user:bo group:sales, key:portal=on-behalf"
CANARIES = ("vermilion", "Quixotrope", "secret-plan", "CANARYTYPE", "canarykey")
"""Words of the hidden document alone."""

PAGE = Path(__file__).parents[3] / "docs" / "permissions.md"
ENDLESS = "/events/stream"
"""A route whose answer has no end."""

CLOSED_ROW = "closed: "
"""How the page begins what a closed route gives to viewers."""

QUESTION = {"query": "What does Radium do with the vermilion Quixotrope?"}
MODES = ("local", "global", "hybrid", "mix", "naive", "walk", "auto")


async def two_groups() -> QueryHarness:
    """A document for everyone, one for the group legal that says more of the same entity, and one
    for cy.
    """
    harness = QueryHarness()
    await harness.index(
        "open",
        "Radium glows in the dark. Watches have dials.",
        says=[
            (
                [entity("Radium", "element", "It glows"), entity("Watch", "thing", "Has dials")],
                [relation("Radium", "Watch", "Makes dials glow", "use")],
            )
        ],
    )
    await harness.index(
        "secret-plan",
        "Radium is in the vermilion Quixotrope, says the plan of the watches.",
        says=[
            (
                [
                    entity("Radium", "CANARYTYPE", "It is in the vermilion Quixotrope"),
                    entity("Quixotrope", "CANARYTYPE", "vermilion"),
                ],
                [
                    relation("Radium", "Quixotrope", "Is in the vermilion one", "canarykey"),
                    relation("Radium", "Watch", "A vermilion plan", "canarykey"),
                ],
            )
        ],
        version=1000,
        access=Access(allow=("group:legal",)),
    )
    access = Access(allow=("user:cy",))
    await harness.index("lamp", "The lamp of Cy burns green.", version=2000, access=access)
    return harness


@pytest_asyncio.fixture
async def app() -> FastAPI:
    """The API over these documents, behind keys of an administrator, two readers and a portal."""
    config = behind(lightstream_api_keys=KEYS, lightstream_principals=PRINCIPALS)
    return (await two_groups()).app(config)


@pytest_asyncio.fixture
async def bo(app: FastAPI) -> AsyncIterator[httpx.AsyncClient]:
    """A client of somebody from whom a document is hidden."""
    async with keyed(app, BO, "w") as api:
        yield api


def canaries_in(answer: httpx.Response, question: str = "") -> list[str]:
    """Words of the hidden document in an answer and its headers, but for those of the question."""
    text = (answer.text + str(answer.headers)).replace(question, "")
    return [word for word in CANARIES if word.lower() in text.lower()]


def documented_routes() -> dict[str, str]:
    """What a viewer gets of every route, by the page."""
    rows = [line.split("|")[1:3] for line in PAGE.read_text().splitlines() if "| `" in line]
    return {
        route: gift.strip()
        for routes, gift in rows
        for route in re.findall(r"`([A-Z]+ /[^`]+)`", routes)
    }


async def test_every_route_gives_viewers_what_the_page_says(bo: httpx.AsyncClient) -> None:
    gifts = documented_routes()
    assert gifts.keys() == {f"{method} {path}" for method, path in described_routes()}
    for method, path in described_routes():
        if path == ENDLESS:
            continue
        answer = await bo.request(method, path)
        is_closed = gifts[f"{method} {path}"].startswith(CLOSED_ROW)
        is_refused = answer.status_code == 403
        assert is_refused == is_closed, f"{method} {path}: {answer.status_code} {answer.text}"


@pytest.mark.parametrize(
    "path", ["/", "/docs", "/docs/start.js", "/redoc", "/openapi.json", "/manual"]
)
async def test_a_page_that_shows_no_documents_is_open(bo: httpx.AsyncClient, path: str) -> None:
    assert (await bo.get(path)).status_code != 403


async def test_a_closed_route_says_why(bo: httpx.AsyncClient) -> None:
    answer = await bo.get("/events")
    assert (answer.status_code, error_sentence(answer)) == (403, CLOSED)


@pytest.mark.parametrize("mode", MODES)
async def test_a_question_is_answered_from_what_is_seen(app: FastAPI, mode: str) -> None:
    question = {"query": "What does Radium do with watches?", "mode": mode}
    body = {**question, "include_chunk_content": True}
    async with keyed(app, BO, "w") as bo, keyed(app, ANN, "w") as ann:
        data = await bo.post("/query/data", json=question)
        assert data.json()["status"] == "success", data.text
        assert canaries_in(data) == []
        for path in ("/query", "/query/stream"):
            for options in ({}, {"only_need_context": True}, {"only_need_prompt": True}):
                answer = await bo.post(path, json={**body, **options})
                assert answer.status_code == 200, answer.text
                assert canaries_in(answer) == []
        assert "vermilion" in (await ann.post("/query/data", json=question)).text


async def test_an_entity_is_described_by_what_is_seen_alone(bo: httpx.AsyncClient) -> None:
    data = await bo.post("/query/data", json={"query": "Radium watch", "mode": "hybrid"})
    entities = {entity["entity_name"]: entity for entity in data.json()["data"]["entities"]}
    assert sorted(entities) == ["Radium", "Watch"]
    assert entities["Radium"]["description"] == "It glows"
    assert entities["Radium"]["entity_type"] == "element"
    (use,) = data.json()["data"]["relationships"]
    assert (use["description"], use["weight"]) == ("Makes dials glow", 1.0)


async def test_the_graph_is_what_is_seen(app: FastAPI) -> None:
    async with keyed(app, BO, "w") as bo, keyed(app, ANN, "w") as ann:
        names = (await bo.get("/graph/label/list")).json()
        assert names == ["Radium", "Watch"]
        assert (await ann.get("/graph/label/list")).json() == ["Quixotrope", "Radium", "Watch"]
        for path in (
            "/graph/label/popular",
            "/graph/label/search?q=a",
            "/graphs?label=*",
            "/graphs?label=Radium",
            "/graph/paths?source=Radium&target=Watch",
            "/graph/provenance?name=Radium",
            "/graph/provenance?name=Radium&other=Watch",
            "/passages/search?keyword=radium",
            "/passages/search?keyword=the",
        ):
            answer = await bo.get(path)
            assert answer.status_code == 200, f"{path}: {answer.text}"
            assert canaries_in(answer) == [], path
            assert "vermilion" in (await ann.get(path)).text or "label" in path
        for path in (
            "/passages/around?chunk_id=secret-plan-chunk-000",
            "/graph/paths?source=Radium&target=Quixotrope",
            "/graph/provenance?name=Quixotrope",
        ):
            assert (await bo.get(path)).status_code == 404, path
        assert (await bo.get("/graph/entity/exists?name=Quixotrope")).json() == {"exists": False}


async def test_compatible_routes_hide_as_much(bo: httpx.AsyncClient) -> None:
    messages = [{"role": "user", "content": "What does Radium do with watches?"}]
    for stream in (True, False):
        for path, model in (
            ("/v1/chat/completions", "lightstream:mix"),
            ("/api/chat", "lightrag:latest"),
        ):
            body = {"model": model, "messages": messages, "stream": stream}
            answer = await bo.post(path, json=body)
            assert answer.status_code == 200, answer.text
            assert canaries_in(answer) == []


async def test_a_hidden_document_is_not_there(app: FastAPI) -> None:
    async with keyed(app, BO, "w") as bo, keyed(app, ANN, "w") as ann:
        for api, count in ((bo, 1), (ann, 2)):
            counts = (await api.get("/documents/status_counts")).json()["status_counts"]
            assert counts["all"] == count
            page = (await api.post("/documents/paginated", json={})).json()
            assert (len(page["documents"]), page["pagination"]["total_count"]) == (count, count)
        hidden_answer = await bo.get("/documents/by_id", params={"doc_id": "secret-plan"})
        unknown_answer = await bo.get("/documents/by_id", params={"doc_id": "unknown"})
        assert hidden_answer.status_code == unknown_answer.status_code == 404
        assert hidden_answer.text.replace("secret-plan", "unknown") == unknown_answer.text
        track = await bo.get("/documents/track_status/secret-plan")
        assert track.json()["documents"] == []
        assert (await ann.get("/documents/by_id", params={"doc_id": "secret-plan"})).is_success


async def _sees(api: httpx.AsyncClient, **headers: str) -> bool:
    answer = await api.get("/documents/by_id", params={"doc_id": "secret-plan"}, headers=headers)
    return answer.status_code == 200


async def test_who_asks_for_others_sees_what_these_see(app: FastAPI) -> None:
    async with keyed(app, PORTAL, "w") as portal, keyed(app, ADMIN, "w") as admin:
        assert not await _sees(portal)
        assert await _sees(portal, **{"X-On-Behalf-Of": "user:cy, group:legal"})
        assert not await _sees(portal, **{"X-On-Behalf-Of": "cy"})
        assert await _sees(admin)
        assert not await _sees(admin, **{"X-On-Behalf-Of": "cy"})
        answer = await portal.get(
            "/documents/status_counts", headers={"X-On-Behalf-Of": "team:legal"}
        )
        assert answer.status_code == 400
        assert "user:<name> or group:<name>" in answer.text


async def test_who_is_bound_may_not_ask_for_others(bo: httpx.AsyncClient) -> None:
    answer = await bo.get("/documents/status_counts", headers={"X-On-Behalf-Of": "group:legal"})
    assert answer.status_code == 403


async def test_a_reader_is_who_its_token_says() -> None:
    config = behind(lightstream_api_keys=KEYS, token_secret=SECRET)
    app = (await two_groups()).app(config)
    claims = {"sub": "cy", "role": "reader", "iss": ISSUER, "iat": time.time()}
    claims |= {"exp": time.time() + 60, "workspaces": ["w"]}
    for groups, is_seen in ((["legal"], True), ([], False)):
        token = jwt.encode({**claims, "groups": groups}, SECRET, "HS256")
        async with bearing(app, token) as reader:
            assert await _sees(reader) == is_seen
            answer = await reader.get("/documents/by_id", params={"doc_id": "lamp"})
            assert answer.status_code == 200 and "x-new-token" not in answer.headers
            deletion = await reader.request(
                "DELETE", "/documents/delete_document", json={"doc_ids": ["lamp"]}
            )
            assert deletion.status_code == 403
            elsewhere = {"X-Workspace": "v"}
            assert (await reader.get("/health", headers=elsewhere)).status_code == 403
    for wrong_claims in ({"groups": "legal"}, {"sub": "c y"}, {"groups": [["a b"]]}):
        token = jwt.encode({**claims, **wrong_claims}, SECRET, "HS256")
        async with bearing(app, token) as reader:
            assert (await reader.get("/documents/status_counts")).status_code == 401


async def test_the_user_of_a_chat_is_believed_of_a_portal_alone(app: FastAPI) -> None:
    body: dict[str, Any] = {
        "model": "lightstream:naive",
        "messages": [{"role": "user", "content": "What does the lamp of Cy burn?"}],
    }
    async with keyed(app, PORTAL, "w") as portal, keyed(app, BO, "w") as bo:
        for api, user, is_answered in (
            (portal, "cy", True),
            (portal, "di", False),
            (portal, None, False),
            (bo, "cy", False),
        ):
            answer = await api.post("/v1/chat/completions", json={**body, "user": user})
            assert ("burns green" in answer.text) == is_answered, (user, answer.text)


async def test_who_sees_a_part_of_the_documents_is_told_that_nothing_else_is_open() -> None:
    keys = f"adm:{ADMIN}:*:write,bo:{BO}:w:write"
    config = behind(lightstream_api_keys=keys, lightstream_principals="key:bo=user:bo")
    app = QueryHarness().app(config)
    for key, right, sees_all in ((ADMIN, "write", True), (BO, "read", False)):
        async with keyed(app, key, "w") as client:
            principal = (await client.get("/auth/principal")).json()
        assert (principal["right"], principal["sees_all_documents"]) == (right, sees_all)


async def test_access_is_shown_changed_and_explained() -> None:
    harness = QueryHarness()
    config = behind(lightstream_api_keys=KEYS, lightstream_principals=PRINCIPALS)
    async with keyed(harness.app(config), ADMIN, "w") as admin:
        insertion = await admin.post(
            "/documents/text",
            json={
                "text": "The plan.",
                "file_source": "plan.md",
                "access": {"allow": ["group:legal"], "deny": ["user:bo"]},
            },
        )
        id = insertion.json()["documents"][0]["id"]
        about = {"doc_id": id}
        await projected(harness)

        async def verdict(principals: str, **when: str) -> tuple[bool, str]:
            params = {**about, "principals": principals, **when}
            answer = (await admin.get("/documents/access/explain", params=params)).json()
            return answer["is_visible"], answer["reason"]

        document_access = (await admin.get("/documents/access", params=about)).json()
        assert document_access["access"] == {"allow": ["group:legal"], "deny": ["user:bo"]}
        assert await verdict("user:ann,group:legal") == (True, "allowed to group:legal")
        assert await verdict("user:bo,group:legal") == (False, "denied to user:bo")
        assert await verdict("user:cy") == (False, "allowed to group:legal only")
        position = str(await harness.log.last("w"))

        change = {"access": {"allow": ["user:cy"]}, "reason": "hers now"}
        answer = await admin.put("/documents/access", params=about, json=change)
        assert answer.json() == {"document_id": id, "is_new": True}
        answer = await admin.put("/documents/access", params=about, json=change)
        assert answer.json()["is_new"] is False
        assert await verdict("user:cy") == (True, "allowed to user:cy")
        assert await verdict("user:cy", at=position) == (
            False,
            "allowed to group:legal only",
        )

        repetition = {
            "text": "The plan.",
            "file_source": "plan.md",
            "access": {"deny": ["user:cy"]},
        }
        assert (await admin.post("/documents/text", json=repetition)).json()[
            "status"
        ] == "duplicated"
        assert await verdict("user:cy") == (False, "denied to user:cy")
        answer = await admin.put("/documents/access", params={"doc_id": "none"}, json=change)
        assert answer.status_code == 404
