"""A stream ends with the token that it was asked for with; nothing else is cut."""

import asyncio
import time
from collections.abc import AsyncGenerator
from typing import Any

import pytest
from starlette.responses import Response, StreamingResponse
from starlette.types import Message, Receive, Scope, Send

from services.gateway.auth.lifetimes import answered_until
from tests.support.access import SECRET, bearing, client, with_accounts
from tests.support.querying import library_of_two


async def _lines() -> AsyncGenerator[bytes]:
    while True:
        yield b"data: more\n\n"
        await asyncio.sleep(0.05)


async def _sent(app: Any, ends: float) -> list[Message]:
    messages: list[Message] = []

    async def send(message: Message) -> None:
        messages.append(message)

    async def receive() -> Message:
        await asyncio.Event().wait()
        raise AssertionError

    async with asyncio.timeout(20):
        await answered_until(
            ends, app, {"type": "http", "asgi": {"spec_version": "2.4"}}, receive, send
        )
    return messages


@pytest.mark.parametrize("kind", ["text/event-stream", "application/x-ndjson; charset=utf-8"])
async def test_a_stream_is_ended_when_the_token_ends(kind: str) -> None:
    began = time.monotonic()
    messages = await _sent(StreamingResponse(_lines(), media_type=kind), time.time() + 0.5)
    assert 0.4 < time.monotonic() - began < 10
    assert messages[1]["body"] == b"data: more\n\n"
    assert messages[-1] == {"type": "http.response.body", "body": b"", "more_body": False}
    assert sum(not message.get("more_body", True) for message in messages) == 1


async def test_other_answers_go_on_to_their_end() -> None:
    async def slow(scope: Scope, receive: Receive, send: Send) -> None:
        await asyncio.sleep(0.3)
        await Response("whole")(scope, receive, send)

    messages = await _sent(slow, time.time() - 5)
    assert messages[-1]["body"] == b"whole"


async def test_an_error_of_the_application_stays_one() -> None:
    async def broken(scope: Scope, receive: Receive, send: Send) -> None:
        raise TimeoutError("of its own")

    with pytest.raises(TimeoutError, match="of its own"):
        await _sent(broken, time.time() + 5)


async def test_the_stream_of_events_ends_with_the_login() -> None:
    harness = await library_of_two()
    config = with_accounts(token_expire_hours=1.5 / 3600)
    app = harness.app(config)
    async with client(app) as api:
        login = await api.post("/login", data={"username": "bob", "password": "stable battery"})
    async with (
        asyncio.timeout(30),
        bearing(app, login.json()["access_token"], **{"X-Workspace": "w"}) as api,
    ):
        answer = await api.get("/events/stream")
    assert answer.status_code == 200
    assert answer.text.startswith("retry:")
    assert SECRET not in answer.text
