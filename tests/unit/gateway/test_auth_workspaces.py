"""Credentials over HTTP and the workspaces that they open."""

from typing import Any

import httpx
import pytest

from tests.support.access import (
    COUNTS,
    NOBODY,
    READER,
    SEVERAL,
    WRITER,
    behind,
    client,
    get,
    keyed,
)
from tests.support.querying import QueryHarness

TEXT = {"text": "Port Elm has a lighthouse."}


async def test_a_key_is_held_to_its_workspaces_and_its_right(harness: QueryHarness) -> None:
    app = harness.app(behind(lightstream_api_keys=SEVERAL))
    async with keyed(app, READER) as api:
        assert await get(api) == (200, None)
        assert (
            await api.post("/query", json={"query": "Who discovered radium?"})
        ).status_code == 200
        assert (await api.post("/documents/text", json=TEXT)).status_code == 403
    async with keyed(app, READER, "v") as api:
        assert (await get(api))[0] == 403
    async with keyed(app, WRITER, "v") as api:
        assert (await api.post("/documents/text", json=TEXT)).status_code == 200
    async with keyed(app, NOBODY) as api:
        assert await get(api) == (403, "Invalid API Key")


async def test_branches_of_a_workspace_can_be_read_by_who_is_bound_to_it_and_not_written(
    harness: QueryHarness,
) -> None:
    app = harness.app(behind(lightstream_api_keys=SEVERAL))
    async with keyed(app, WRITER, "v..small") as api:
        assert (await get(api))[0] == 200
        assert (await api.post("/documents/text", json=TEXT)).status_code == 403
    async with keyed(app, READER, "v..small") as api:
        assert (await get(api))[0] == 403


async def test_a_foreign_workspace_answers_alike_whether_it_is_there_or_not(
    harness: QueryHarness,
) -> None:
    await harness.index("secret", "Nobody may know.", workspace="theirs", version=5000)
    app = harness.app(behind(lightstream_api_keys=SEVERAL))
    bodies: list[Any] = []
    for name in ("theirs", "never-heard-of", "W", "w/../theirs", "*"):
        async with keyed(app, READER, name) as api:
            answers = [await api.get(COUNTS), await api.get("/documents/track_status/secret")]
            answers += [await api.post("/query", json={"query": "What may nobody know?"})]
            bodies += [
                (answer.status_code, answer.json(), sorted(answer.headers)) for answer in answers
            ]
    assert {str(body) for body in bodies} == {str(bodies[0])}
    assert bodies[0][:2] == (403, {"detail": "these credentials are not for this workspace"})


async def test_a_foreign_id_is_an_absent_id(harness: QueryHarness) -> None:
    await harness.index("secret", "Nobody may know.", workspace="theirs", version=5000)
    async with keyed(harness.app(behind(lightstream_api_keys=SEVERAL)), READER) as api:
        foreign = await api.get("/documents/track_status/secret")
        absent = await api.get("/documents/track_status/absent")
    assert foreign.json() == {**absent.json(), "track_id": "secret"}


async def test_a_key_of_one_workspace_means_that_one_when_a_request_names_none(
    harness: QueryHarness,
) -> None:
    await harness.index("other", "A ship.", workspace="v", version=7000)
    app = harness.app(
        behind(lightstream_api_keys=f"only:{NOBODY}:v:read,several:{READER}:a+b:read")
    )
    async with keyed(app, NOBODY) as api:
        assert (await api.get(COUNTS)).json()["status_counts"]["all"] == 1
    async with keyed(app, READER) as api:
        assert (await get(api))[0] == 403


@pytest.mark.parametrize(
    "headers",
    [
        [("X-Workspace", "w"), ("X-Workspace", "w")],
        [("X-Workspace", "w"), ("LIGHTRAG-WORKSPACE", "v")],
        [("LIGHTRAG-WORKSPACE", "v"), ("lightrag-workspace", "w")],
        [("X-API-Key", NOBODY)],
        [("Authorization", "Bearer a"), ("Authorization", "Bearer b")],
    ],
)
async def test_headers_that_contradict_each_other_are_refused(
    harness: QueryHarness, headers: list[tuple[str, str]]
) -> None:
    async with keyed(harness.app(behind(lightstream_api_keys=SEVERAL)), WRITER) as api:
        all_headers = [*api.headers.multi_items(), *headers]
        assert (await api.get(COUNTS, headers=httpx.Headers(all_headers))).status_code == 400


async def test_both_names_of_the_workspace_header_may_agree(harness: QueryHarness) -> None:
    async with client(harness.app()) as api:
        answer = await api.get(COUNTS, headers={"X-Workspace": "w", "LIGHTRAG-WORKSPACE": "w"})
    assert answer.json()["status_counts"]["all"] == 2
