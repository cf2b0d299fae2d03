"""Pictures, sounds and files in a message are left out and said; the text is answered."""

from collections.abc import AsyncIterator
from typing import Any

import httpx
import pytest
import pytest_asyncio

from tests.support.querying import library_of_two

TEXT = {"type": "text", "text": "Who discovered radium?"}
PICTURE = {"type": "image_url", "image_url": {"url": "data:image/png;base64,iVBORw0KGgo="}}
OTHERS = [
    PICTURE,
    {"type": "input_audio", "input_audio": {"data": "UklGRg==", "format": "wav"}},
    {"type": "file", "file": {"file_id": "f-1"}},
]


@pytest_asyncio.fixture
async def api() -> AsyncIterator[httpx.AsyncClient]:
    transport = httpx.ASGITransport((await library_of_two()).app(), raise_app_exceptions=False)
    async with httpx.AsyncClient(transport=transport, base_url="http://api") as api:
        yield api


def chat(*content: Any, **fields: Any) -> dict[str, Any]:
    return {
        "model": "lightstream:naive",
        "messages": [{"role": "user", "content": list(content)}],
        **fields,
    }


@pytest.mark.parametrize("part", OTHERS, ids=lambda part: part["type"])
async def test_the_text_beside_another_part_is_answered(
    api: httpx.AsyncClient, part: dict[str, Any]
) -> None:
    answer = (await api.post("/v1/chat/completions", json=chat(part, TEXT))).json()
    text = answer["choices"][0]["message"]["content"]
    assert "radium" in text
    notice = f"nly text is read; parts of the messages were left out: 1 of the type {part['type']}"
    assert notice in text
    assert text.index(notice) < text.index("### References")
    assert answer["warnings"] == [f"o{notice}"]


async def test_a_stream_says_it_in_its_last_chunk(api: httpx.AsyncClient) -> None:
    stream = (
        await api.post("/v1/chat/completions", json=chat(TEXT, PICTURE, PICTURE, stream=True))
    ).text
    assert "2 of the type image_url" in stream
    assert '"warnings": ["only text is read' in stream


async def test_a_picture_of_an_earlier_message_is_said_in_the_field_alone(
    api: httpx.AsyncClient,
) -> None:
    body = chat(TEXT)
    body["messages"] = [
        {"role": "user", "content": [PICTURE]},
        {"role": "assistant", "content": "A ship."},
        *body["messages"],
    ]
    answer = (await api.post("/v1/chat/completions", json=body)).json()
    assert "left out" not in answer["choices"][0]["message"]["content"]
    assert len(answer["warnings"]) == 1


async def test_a_message_without_text_is_refused_with_the_reason(api: httpx.AsyncClient) -> None:
    answer = await api.post("/v1/chat/completions", json=chat(PICTURE))
    assert answer.status_code == 400
    assert "the last message has no text" in answer.json()["error"]["message"]
    assert "warnings" not in (await api.post("/v1/chat/completions", json=chat(TEXT))).json()


async def test_ollamas_images_are_left_out_too(api: httpx.AsyncClient) -> None:
    message = {"role": "user", "content": "Who discovered radium?", "images": ["aGVsbG8="]}
    body = {"model": "lightrag:latest", "messages": [message], "stream": False}
    text = (await api.post("/api/chat", json=body)).json()["message"]["content"]
    assert "radium" in text
    assert "1 of the type image" in text
