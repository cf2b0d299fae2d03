"""How much one caller may ask: requests of a minute, fields of a form, no websocket."""

from typing import Any

import httpx
import pytest

from tests.support.access import (
    KEY,
    READER,
    SEVERAL,
    WRITER,
    behind,
    client,
    keyed,
    with_accounts,
)
from tests.support.querying import QueryHarness

QUESTION = {"query": "Who discovered radium?"}


async def test_requests_are_limited_for_each_credential_and_for_strangers_by_address() -> None:
    app = QueryHarness().app(behind(lightstream_api_keys=SEVERAL, rate_limit_per_minute=5))

    async def statuses(api: httpx.AsyncClient, count: int) -> list[int]:
        return [(await api.get("/documents/status_counts")).status_code for _ in range(count)]

    async with keyed(app, READER) as api:
        assert await statuses(api, 6) == [200] * 5 + [429]
        assert int((await api.get("/documents/status_counts")).headers["Retry-After"]) in range(
            1, 13
        )
        assert (await api.get("/health/live")).status_code != 429
    async with keyed(app, WRITER) as api:
        assert await statuses(api, 1) == [200]
    async with client(app, "10.1.2.3", **{"X-API-Key": "guess"}) as api:
        assert await statuses(api, 6) == [403] * 5 + [429]
    async with client(app, "10.1.2.4") as api:
        assert await statuses(api, 1) == [403]
    for host in range(6):
        async with client(app, f"2001:db8::{host}") as api:
            assert await statuses(api, 1) == [403 if host < 5 else 429]


async def test_questions_are_limited_more_than_other_requests(harness: QueryHarness) -> None:
    async with client(harness.app(behind(rate_limit_queries_per_minute=2))) as api:
        codes = [(await api.post("/query", json=QUESTION)).status_code for _ in range(3)]
        assert codes == [200, 200, 429]
        assert (await api.get("/documents/status_counts")).status_code == 200


def test_limits_hold_on_loopback_only_when_they_are_set() -> None:
    assert behind().request_limit.per_minute == behind().query_limit.per_minute == 0
    assert behind(rate_limit_per_minute=9).request_limit.per_minute == 9
    public_config = behind(host="0.0.0.0", lightrag_api_key=KEY)
    assert (public_config.request_limit.per_minute, public_config.query_limit.per_minute) == (
        1200,
        240,
    )


@pytest.mark.parametrize("size", [70_000, 1_000_000])
async def test_a_form_has_few_fields_and_short_ones(size: int) -> None:
    async with client(QueryHarness().app(with_accounts())) as api:
        long_form = await api.post(
            "/login", files={"username": (None, "ada"), "password": (None, "x" * size)}
        )
        assert long_form.status_code in {400, 413, 422}
        many_fields = await api.post(
            "/login", files=[(f"f{n}", (None, "x")) for n in range(size // 100)]
        )
        assert many_fields.status_code in {400, 413, 422}
        files = await api.post("/login", files=[(f"f{n}", (f"{n}.txt", b"x")) for n in range(101)])
        assert files.status_code in {400, 413, 422}


async def test_a_websocket_is_closed() -> None:
    messages: list[Any] = []

    async def receive() -> Any:
        return {"type": "websocket.connect"}

    async def send(message: Any) -> None:
        messages.append(message)

    scope = {"type": "websocket", "path": "/query", "headers": [], "query_string": b"", "app": None}
    await QueryHarness().app(behind(lightrag_api_key=KEY))(scope, receive, send)
    assert messages == [{"type": "websocket.close", "code": 1008}]
