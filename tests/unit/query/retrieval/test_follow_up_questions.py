"""A follow-up question is searched with the names that were spoken of before."""

from collections.abc import AsyncIterator

import httpx
import pytest
import pytest_asyncio

from services.query.question import Question, Turn
from services.query.retrieval.earlier_turns import MAX_NAMES, search_text
from tests.support.querying import library_of_two

BEFORE = (
    Turn("user", "Who founded Port Elm?"),
    Turn("assistant", "Karla Mole founded Port Elm. [1]"),
)


@pytest.mark.parametrize(
    ("query", "search"),
    [
        ("And who keeps it today?", "And who keeps it today? (Port Elm, Karla Mole)"),
        ("and who keeps it today?", "and who keeps it today? (Port Elm, Karla Mole)"),
        ("Where was she born?", "Where was she born? (Port Elm, Karla Mole)"),
        ("Why?", "Why? (Port Elm, Karla Mole)"),
        ("Und wer führt ihn heute?", "Und wer führt ihn heute? (Port Elm, Karla Mole)"),
        ("她是谁？", "她是谁？ (Port Elm, Karla Mole)"),
        ("And what of Port Elm?", "And what of Port Elm? (Karla Mole)"),
        ("What does the baker sell?", "What does the baker sell?"),
        ("Who leads the Harbour Office?", "Who leads the Harbour Office?"),
    ],
)
def test_the_names_of_the_last_turns_join_a_question_that_refers_to_them(
    query: str, search: str
) -> None:
    assert search_text(Question(query, history=BEFORE)) == search
    assert search_text(Question(query)) == query


def test_only_the_last_turns_and_a_few_names_count() -> None:
    names = " ".join(f"Ada Marlow{letter} met Lene Stern{letter}." for letter in "abcdefgh")
    old_turns = (Turn("user", "Who was Otto Brandt?"), Turn("assistant", "Nobody knows."))
    question = Question(
        "And where is it?", history=(*old_turns, Turn("user", "Who met?"), Turn("assistant", names))
    )
    assert "Otto" not in search_text(question)
    assert search_text(question).count(",") == MAX_NAMES - 1
    assert search_text(
        Question("And where is it?", history=(Turn("system", "You are Karla Mole."),))
    ) == ("And where is it?")


@pytest_asyncio.fixture
async def api() -> AsyncIterator[httpx.AsyncClient]:
    transport = httpx.ASGITransport((await library_of_two()).app(), raise_app_exceptions=False)
    async with httpx.AsyncClient(transport=transport, base_url="http://api") as api:
        yield api


HISTORY = [
    {"role": "user", "content": "Who was Marie Curie?"},
    {"role": "assistant", "content": "Marie Curie was a physicist."},
]


async def test_every_route_answers_a_follow_up_question(api: httpx.AsyncClient) -> None:
    message = {"role": "user", "content": "and what has she discovered?"}
    body = {"query": message["content"], "mode": "local", "conversation_history": HISTORY}
    data = (await api.post("/query/data", json=body)).json()["data"]
    assert "Marie Curie" in [entity["entity_name"] for entity in data["entities"]]
    answer = (await api.post("/query", json=body)).json()["response"]
    assert "radium" in answer
    chat = {"model": "lightstream:local", "messages": [*HISTORY, message]}
    assert "radium" in (await api.post("/v1/chat/completions", json=chat)).text
    ollama = {
        "model": "lightrag:latest",
        "messages": [*HISTORY, {"role": "user", "content": "/local and what has she discovered?"}],
    }
    assert "radium" in (await api.post("/api/chat", json={**ollama, "stream": False})).text
