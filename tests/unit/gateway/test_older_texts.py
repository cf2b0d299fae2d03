"""A text that more people may see than the one before it: nobody sees the older one by it."""

import random
from typing import Any

import pytest

from tests.support.hidden_words import BY_PARAGRAPH, HiddenWords
from tests.support.pipeline import settle


@pytest.mark.parametrize("paused", ["chunker", "merger-extents", "query-status"])
async def test_a_text_for_more_waits_until_the_older_one_is_replaced(paused: str) -> None:
    world = HiddenWords(random.Random(1))
    body = {"file_source": "plan.md", "chunking": BY_PARAGRAPH}
    board = {"allow": ["group:board"], "deny": []}
    old_text = "The plan of Port Elm.\n\nQuixotrope Marlow leads the Harbour Office in Port Elm."

    async def answers(**point: str) -> str:
        question = {"query": "Who leads Port Elm?", "mode": "mix", **point}
        async with world.viewing("") as api:
            answer = await api.post("/query/data", json=question)
            names = await api.get("/graph/label/list", params=point)
            documents = await api.post("/documents/paginated", json={})
        return answer.text + names.text + documents.text

    async def add(text: str, access: dict[str, Any]) -> str:
        request = {**body, "text": text, "access": access}
        answer = await world.admin.post("/documents/text", json=request)
        await settle(world.harness)
        return answer.json()["documents"][0]["id"]

    async with world.at_work():
        await add(old_text, board)
        world.log.paused.add(paused)
        begins = len(world.log.messages) + 1
        await add("The new plan of Port Elm.", {})
        names = await world.admin.get("/graph/label/list")
        passages = await world.admin.get("/passages/search", params={"keyword": "Quixotrope"})
        assert "Quixotrope" in names.text or passages.json()["passages"]
        for point in ({}, {"as_of": str(begins)}):
            assert "plan" not in await answers(**point)
        world.log.resume()
        await settle(world.harness)
        assert "The new plan" in await answers()
        assert "Quixotrope" not in await answers() + await answers(as_of=str(begins))


async def test_what_is_left_of_an_older_text_is_explained() -> None:
    world = HiddenWords(random.Random(1))
    board = {"allow": ["group:board"], "deny": []}
    body = {"file_source": "plan.md"}
    async with world.at_work():
        await world.admin.post("/documents/text", json={**body, "text": "Old.", "access": board})
        await settle(world.harness)
        world.log.paused.add("chunker")
        answer = await world.admin.post(
            "/documents/text", json={**body, "text": "New.", "access": {}}
        )
        about = {"doc_id": answer.json()["documents"][0]["id"]}
        begins = len(world.log.messages)
        for older_lists, is_visible in (([board], False), ([], True)):
            access = (await world.admin.get("/documents/access", params=about)).json()
            assert access["older_lists"] == older_lists
            explanation = (await world.admin.get("/documents/access/explain", params=about)).json()
            assert explanation["is_visible"] == is_visible
            at = {**about, "at": str(begins)}
            past_explanation = (
                await world.admin.get("/documents/access/explain", params=at)
            ).json()
            assert past_explanation["reason"] == (
                "an older text, which is not replaced yet, is allowed to group:board only"
            )
            world.log.resume()
            await settle(world.harness)
