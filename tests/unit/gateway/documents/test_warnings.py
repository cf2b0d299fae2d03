"""What is left out of a text or a file is said in the answer, in the status, and not repeated by a
new version.
"""

from typing import Any

import httpx

from tests.support.binary_data import BASE64
from tests.support.querying import QueryHarness, projected

INLINE = "1 inline file (image/png; 40,022 bytes) was left out: only text is read"


async def state(api: httpx.AsyncClient, id: str) -> dict[str, Any]:
    return (await api.get("/documents/by_id", params={"doc_id": id})).json()


async def test_a_text_with_a_picture_is_added_without_it_and_the_answer_says_so(
    api: httpx.AsyncClient, harness: QueryHarness
) -> None:
    text = f"Ada keeps the lamp. <img src='data:image/png;base64,{BASE64}'>"
    answer = (await api.post("/documents/text", json={"text": text, "file_source": "a.md"})).json()
    await projected(harness)
    assert answer["warnings"] == [INLINE]
    assert INLINE in answer["message"]
    document = await state(api, answer["documents"][0]["id"])
    assert (document["warnings"], document["content_length"] < 100) == ([INLINE], True)
    await api.post("/documents/text", json={"text": "Ada keeps the lamp.", "file_source": "a.md"})
    await projected(harness)
    assert (await state(api, document["id"]))["warnings"] == []


async def test_of_several_texts_each_warning_names_its_text(api: httpx.AsyncClient) -> None:
    texts = ["Nothing left out.", f"Lamp <img src='data:image/png;base64,{BASE64}'>"]
    answer = (
        await api.post("/documents/texts", json={"texts": texts, "file_sources": ["a.md", "b.md"]})
    ).json()
    assert answer["warnings"] == [f"b.md: {INLINE}"]


async def test_a_text_of_a_picture_alone_is_refused_with_the_reason(api: httpx.AsyncClient) -> None:
    answer = await api.post(
        "/documents/text", json={"text": f"![](data:image/png;base64,{BASE64})"}
    )
    assert answer.status_code == 422
    assert "1 inline file (image/png" in answer.text
