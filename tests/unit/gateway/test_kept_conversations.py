"""What an account asked is kept for it alone, by conversation."""

from typing import Any

import httpx
from fastapi import FastAPI

from runtime.bus.memory import MemorySharedValues
from services.gateway.auth.config import auth_config
from services.gateway.auth.settings import AccessSettings
from services.gateway.conversations import store
from services.gateway.conversations.store import Conversation, Conversations
from tests.support.querying import QueryHarness

READER = "rea-d-only-0123456789"
WRITER = "w-rites-all-0123456789"
APPLICATION = "asks-for-all-0123456789"
CONVERSATION: dict[str, Any] = {
    "name": "Tides",
    "at": 5,
    "questions": [{"query": "Where is the tide gauge?", "mode": "walk", "filter": {"tags": ["a"]}}],
}


def app() -> FastAPI:
    settings = AccessSettings(
        lightstream_api_keys=(
            f"reader:{READER}:w:read,writer:{WRITER}:*:write,app:{APPLICATION}:*:read"
        ),
        lightstream_principals="key:app=on-behalf",
    )
    return QueryHarness().app(auth_config(settings))


def caller(app: FastAPI, key: str = "", **headers: str) -> httpx.AsyncClient:
    headers = {**({"X-API-Key": key} if key else {}), **headers}
    transport = httpx.ASGITransport(app)
    return httpx.AsyncClient(transport=transport, base_url="http://t", headers=headers)


async def names(client: httpx.AsyncClient) -> list[str]:
    answer = (await client.get("/conversations")).raise_for_status().json()
    assert answer["are_kept"]
    return [conversation["name"] for conversation in answer["conversations"]]


async def test_a_reader_keeps_and_removes_its_own_and_nobody_else_sees_them() -> None:
    served = app()
    async with caller(served, READER) as reader, caller(served, WRITER) as writer:
        (await reader.put("/conversations/one", json=CONVERSATION)).raise_for_status()
        older = {**CONVERSATION, "name": "Older", "at": 1}
        (await reader.put("/conversations/two", json=older)).raise_for_status()
        assert await names(reader) == ["Tides", "Older"]
        conversation = (await reader.get("/conversations")).json()["conversations"][0]
        assert conversation == {"id": "one", **CONVERSATION}
        assert await names(writer) == []
        assert (await writer.delete("/conversations/one")).status_code == 404
        assert (await reader.delete("/conversations/one")).json() == {"id": "one"}
        assert await names(reader) == ["Older"]


async def test_each_workspace_and_each_user_of_an_application_has_its_own() -> None:
    served = app()
    async with (
        caller(served, WRITER, **{"X-Workspace": "a"}) as here,
        caller(served, WRITER, **{"X-Workspace": "b"}) as there,
        caller(served, APPLICATION, **{"X-On-Behalf-Of": "ann"}) as ann,
        caller(served, APPLICATION, **{"X-On-Behalf-Of": "bo"}) as bo,
    ):
        (await here.put("/conversations/one", json=CONVERSATION)).raise_for_status()
        (await ann.put("/conversations/one", json=CONVERSATION)).raise_for_status()
        assert [len(await names(client)) for client in (here, there, ann, bo)] == [1, 0, 1, 0]


async def test_who_is_nobody_keeps_them_in_the_browser() -> None:
    async with caller(QueryHarness().app()) as guest:
        assert (await guest.get("/conversations")).json() == {
            "are_kept": False,
            "conversations": [],
        }
        answer = await guest.put("/conversations/one", json=CONVERSATION)
        assert answer.status_code == 409
        assert "sign in" in answer.json()["detail"]


async def test_a_conversation_that_is_too_large_is_refused_with_its_size() -> None:
    async with caller(app(), WRITER) as writer:
        body = {**CONVERSATION, "questions": [{"query": "x" * 16_000}] * 5}
        answer = await writer.put("/conversations/one", json=body)
        assert answer.status_code == 422
        assert "65536 bytes" in answer.text


async def test_the_newest_stay_where_there_are_too_many() -> None:
    values = MemorySharedValues()
    conversations = Conversations(values)
    for number in range(store.MAX_CONVERSATIONS + 2):
        await conversations.keep("w.me", Conversation(str(number), "n", number, []))
    remaining = await conversations.of("w.me")
    assert len(remaining) == store.MAX_CONVERSATIONS
    assert remaining[0].id == str(store.MAX_CONVERSATIONS + 1)
    for number in range(20):
        large = Conversation(f"large-{number}", "n", 1000 + number, [{"query": "x" * 60_000}])
        await conversations.keep("w.me", large)
    assert len(values.values["w.me"][0]) <= store.MAX_BYTES
