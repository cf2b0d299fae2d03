"""Halves of surrogate pairs in every field: refused or replaced, and never an internal error."""

import json
from collections.abc import AsyncIterator
from typing import Any

import httpx
import pytest
import pytest_asyncio

from tests.support.access import WRITER, behind, keyed
from tests.support.pipeline import FollowedLog, working
from tests.support.querying import QueryHarness

OURS = f"ours:{WRITER}:w:write"


@pytest_asyncio.fixture
async def harness() -> QueryHarness:
    return QueryHarness(log=FollowedLog())


@pytest_asyncio.fixture
async def api(harness: QueryHarness) -> AsyncIterator[httpx.AsyncClient]:
    """Everything at work; the caller has a key for the workspace w alone."""
    async with (
        working(harness),
        keyed(harness.app(behind(lightstream_api_keys=OURS)), WRITER) as api,
    ):
        yield api


@pytest.mark.parametrize("name", ["\ud800", "a\udfffb"])
async def test_s23_half_a_character_is_no_name_to_look_up(
    api: httpx.AsyncClient, name: str
) -> None:
    for path, body in [
        ("/documents/paginated", {"status_filter": name}),
        ("/documents/paginated", {"status_filters": [name]}),
        ("/operations/retry", {"documents": [name]}),
    ]:
        answer = await api.post(
            path, content=json.dumps(body), headers={"Content-Type": "application/json"}
        )
        assert answer.status_code == 422, f"{path}: {answer.text}"


@pytest.mark.parametrize("name", ["\ud800", "a\udfffb"])
async def test_s23_half_a_character_is_refused_or_replaced_everywhere(
    api: httpx.AsyncClient, name: str
) -> None:
    bodies: list[tuple[str, str, Any]] = [
        ("POST", "/documents/text", {"text": f"Text {name}", "file_source": f"{name}.md"}),
        ("POST", "/documents/texts", {"texts": [f"Text {name}"], "file_sources": [name]}),
        ("DELETE", "/documents/delete_document", {"doc_ids": [name]}),
        (
            "POST",
            "/query",
            {"query": f"What is {name}?", "user_prompt": name, "hl_keywords": [name]},
        ),
        (
            "POST",
            "/query/data",
            {"query": f"What is {name}?", "filter": {"tags": [name], "metadata": {name: name}}},
        ),
        (
            "POST",
            "/query/stream",
            {"query": f"What is {name}?", "filter": {"file_path_prefix": name}},
        ),
        (
            "POST",
            "/graph/entity/create",
            {"entity_name": name, "entity_data": {"description": name, name: name}},
        ),
        (
            "POST",
            "/graph/entity/edit",
            {"entity_name": name, "updated_data": {"entity_type": name}},
        ),
    ]
    for method, path, body in bodies:
        answer = await api.request(
            method,
            path,
            content=json.dumps(body).encode(),
            headers={"Content-Type": "application/json"},
        )
        assert answer.status_code < 500, f"{path}: {answer.text}"
        answer.content.decode()
