"""What is written down of a request: who changed what and how it went, and never a secret."""

import json
from typing import Any

import httpx
import pytest
from structlog.testing import capture_logs

from runtime.errors import ConfigurationError
from services.gateway.auth.settings import AccessSettings
from services.query.settings import QuerySettings
from tests.support.access import (
    KEY,
    READER,
    SEVERAL,
    WRITER,
    bearing,
    behind,
    client,
    keyed,
    with_accounts,
)
from tests.support.querying import QueryHarness

TEXT = {"text": "Port Elm has a lighthouse.", "file_source": "port.md"}
TRACE = "0af7651916cd43dd8448eb211c80319c"
CANARY = "canary-9f31c7e2a4"


def audits(lines: list[Any]) -> list[dict[str, Any]]:
    return [line for line in lines if line["event"] == "audit"]


async def test_a_change_leaves_one_line_with_who_what_where_and_how_it_went(
    harness: QueryHarness,
) -> None:
    with capture_logs() as lines:
        async with keyed(harness.app(behind(lightstream_api_keys=SEVERAL)), WRITER, "v") as api:
            await api.post(
                "/documents/text?x=1",
                json=TEXT,
                headers={"traceparent": f"00-{TRACE}-b7ad6b7169203331-01"},
            )
    (line,) = audits(lines)
    assert line == {
        "event": "audit",
        "log_level": "info",
        "who": "key:writer",
        "what": "POST /documents/text",
        "workspace": "v",
        "address": "127.0.0.1",
        "trace": TRACE,
        "outcome": 200,
    }


async def test_the_reason_is_in_the_line_also_of_a_request_without_a_body(
    harness: QueryHarness,
) -> None:
    path = "/operations/webhooks/0000000000000000"
    reason = {"reason": "moved"}
    with capture_logs() as lines:
        async with client(harness.app()) as api:
            await api.delete("/operations/budget", params=reason)
            await api.delete(path, params=reason)
            await api.post(f"{path}/enable", params=reason)
            await api.post(f"{path}/replay", json={"after": 7, **reason})
            await api.post(f"{path}/rotate", json={"keep_hours": 2, **reason})
    assert [(line["what"].rpartition("/")[2], line["reason"]) for line in audits(lines)] == [
        (end, "moved") for end in ("budget", "0000000000000000", "enable", "replay", "rotate")
    ]
    assert audits(lines)[3]["after"] == 7


async def test_a_line_says_which_document_was_meant_and_what_was_said_of_it(
    harness: QueryHarness,
) -> None:
    older_id = "doc-older"
    id = "doc-newer"
    reason = {"reason": "resolution 12"}
    decision = {"supersedes": older_id, "is_accepted": False, **reason}
    with capture_logs() as lines:
        async with client(harness.app()) as api:
            path = f"/documents/{id}/validity"
            await api.put(path, json={"supersedes": [older_id], **reason})
            await api.delete(path, params=reason)
            await api.post(f"{path}/decisions", json=decision)
            await api.put("/documents/access", params={"doc_id": id}, json={**reason, "access": {}})
            await api.put(f"/documents/{id}/tags", json={"tags": ["old"], **reason})
            await api.request("DELETE", "/documents/delete_document", json={"doc_ids": [id]})
    details = [
        {name: line.get(name) for name in ("document", "supersedes", "decision", "reason")}
        for line in audits(lines)[:-1]
    ]
    of_document = {"document": id, "supersedes": None, "decision": None, **reason}
    assert details == [
        {**of_document, "supersedes": [older_id]},
        of_document,
        {**of_document, "supersedes": older_id, "decision": "rejected"},
        of_document,
        of_document,
    ]
    assert audits(lines)[-1]["documents"] == [id]


async def test_the_trace_of_a_change_goes_on_into_its_events(harness: QueryHarness) -> None:
    with capture_logs() as lines:
        async with client(harness.app()) as api:
            await api.post("/documents/text", json=TEXT)
            await api.post(
                "/documents/text", json={"text": "Another."}, headers={"traceparent": "no trace"}
            )
    traces = [line["trace"] for line in audits(lines)]
    assert len(set(traces)) == 2
    assert [
        json.loads(message.data)["traceparent"][3:35] for message in harness.log.messages
    ] == traces


async def test_reading_leaves_no_line(harness: QueryHarness) -> None:
    with capture_logs() as lines:
        async with client(harness.app()) as api:
            assert (await api.get("/documents/status_counts")).status_code == 200
            assert (
                await api.post("/query", json={"query": "Who discovered radium?"})
            ).status_code == 200
            assert (await api.post("/documents/paginated", json={})).status_code == 200
    assert lines == []


async def test_what_was_refused_is_written_down_too(harness: QueryHarness) -> None:
    with capture_logs() as lines:
        async with client(harness.app(behind(lightstream_api_keys=SEVERAL))) as api:
            await api.post("/documents/text", json=TEXT)
            await api.post("/documents/text", json=TEXT, headers={"X-API-Key": READER})
            await api.post("/documents/text", json={}, headers={"X-API-Key": WRITER})
    result = [(line["who"], line["outcome"]) for line in audits(lines)]
    assert result == [("nobody", 403), ("key:reader", 403), ("key:writer", 422)]


async def test_a_bug_is_an_outcome(harness: QueryHarness) -> None:
    class Broken:
        async def newest(self, *_: Any) -> Any:
            raise RuntimeError("a bug")

    with capture_logs() as lines:
        async with client(harness.app(log=Broken())) as api:
            assert (await api.post("/documents/text", json=TEXT)).status_code == 500
    assert [line["outcome"] for line in audits(lines)] == [500]


async def test_logins_are_written_down_with_the_name_that_was_given(harness: QueryHarness) -> None:
    with capture_logs() as lines:
        async with client(harness.app(with_accounts())) as api:
            await api.post("/login", data={"username": "ada", "password": CANARY})
            await api.post("/login", data={"username": "ada", "password": "correct horse"})
    result = [(line["who"], line["what"], line["outcome"]) for line in audits(lines)]
    assert result == [("login:ada", "POST /login", 401), ("user:ada", "POST /login", 200)]


async def everything(api: httpx.AsyncClient) -> str:
    """What the API says to a secret in all places where one may stand by mistake."""
    headers = {
        "Authorization": f"Bearer {CANARY}",
        "X-API-Key": f"{CANARY}0123456789",
        "Cookie": f"s={CANARY}",
    }
    answers: list[httpx.Response] = []
    for credentials in ({}, headers, {"X-API-Key": KEY}):
        answers += [
            await api.post(
                "/login", data={"username": "ada", "password": CANARY}, headers=credentials
            ),
            await api.post("/login", data={"password": CANARY}, headers=credentials),
            await api.post("/query", json={"query": [CANARY]}, headers=credentials),
            await api.post(
                "/query",
                content=f'{{"{CANARY}',
                headers={**credentials, "Content-Type": "application/json"},
            ),
            await api.post(
                "/documents/text", json={"text": [CANARY], "password": CANARY}, headers=credentials
            ),
            await api.get(
                "/documents/status_counts", params={"api_key": CANARY}, headers=credentials
            ),
            await api.request("DELETE", "/nowhere", json={"token": CANARY}, headers=credentials),
        ]
    return "".join(answer.text + str(answer.headers) for answer in answers)


async def test_secrets_reach_no_log_no_error_and_no_event(harness: QueryHarness) -> None:
    config = with_accounts(lightrag_api_key=KEY)
    with capture_logs() as lines:
        async with client(harness.app(config)) as api:
            text = await everything(api)
            token = (
                await api.post("/login", data={"username": "ada", "password": "correct horse"})
            ).json()
        async with bearing(harness.app(config), token["access_token"]) as api:
            await api.post("/documents/text", json=TEXT)
    output = (
        json.dumps(lines, default=str)
        + text
        + "".join(str(message) for message in harness.log.messages)
    )
    assert audits(lines)
    assert harness.log.messages
    assert [s for s in (CANARY, KEY, "correct horse", token["access_token"]) if s in output] == []


def test_settings_never_show_a_secret(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in (
        "LIGHTRAG_API_KEY",
        "LIGHTSTREAM_API_KEYS",
        "AUTH_ACCOUNTS",
        "TOKEN_SECRET",
        "LLM_API_KEY",
    ):
        monkeypatch.setenv(name, CANARY)
    text = repr(AccessSettings()) + str(AccessSettings()) + repr(QuerySettings())
    assert CANARY not in text
    monkeypatch.setenv("JWT_ALGORITHM", CANARY)
    with pytest.raises(ConfigurationError, match="JWT_ALGORITHM") as error:
        AccessSettings()
    assert CANARY not in str(error.value)


async def test_events_carry_the_principal_that_the_line_names_and_never_its_key(
    harness: QueryHarness,
) -> None:
    async with keyed(harness.app(behind(lightstream_api_keys=SEVERAL)), WRITER, "v") as api:
        await api.post("/documents/text", json=TEXT)
    async with client(harness.app()) as api:
        await api.post("/documents/text", json=TEXT)
    by_writer, by_anyone = (message.data for message in harness.log.messages)
    assert [json.loads(data)["actor"] for data in (by_writer, by_anyone)] == [
        "key:writer",
        "anyone",
    ]
    assert WRITER.encode() not in by_writer
