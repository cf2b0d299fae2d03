"""One text under two names takes one place of the context, and the other names are said."""

from collections.abc import AsyncIterator

import httpx
import pytest
import pytest_asyncio
from hypothesis import given
from hypothesis import strategies as st

from contracts.spelling import one_spelling
from services.query.passage import Passage
from services.query.retrieval.doubles import SIGNS, distinct_passages
from tests.support.querying import CURIE, CURIE_SAYS, QueryHarness, library_of_two

QUESTION = "Who discovered radium?"
COPY = tuple(
    passage.replace(" radium", " ra\u00addium").replace(" the ", "\u00a0the ") for passage in CURIE
)


@pytest_asyncio.fixture
async def harness() -> QueryHarness:
    harness = await library_of_two()
    await harness.index("curie (copy)", *COPY, says=CURIE_SAYS, version=2000)
    return harness


@pytest_asyncio.fixture
async def api(harness: QueryHarness) -> AsyncIterator[httpx.AsyncClient]:
    transport = httpx.ASGITransport(harness.app(), raise_app_exceptions=False)
    async with httpx.AsyncClient(transport=transport, base_url="http://api") as api:
        yield api


@pytest.mark.parametrize("mode", ["naive", "local", "global", "hybrid", "mix", "walk", "auto"])
async def test_passages_that_say_the_same_take_one_place(api: httpx.AsyncClient, mode: str) -> None:
    data = (await api.post("/query/data", json={"query": QUESTION, "mode": mode})).json()["data"]
    texts = [" ".join(chunk["content"].replace("\u00ad", "").split()) for chunk in data["chunks"]]
    assert len(texts) == len(set(texts)) > 0
    radium = next(chunk for chunk in data["chunks"] if "Pierre" in chunk["content"])
    assert {radium["file_path"], *(double["file_path"] for double in radium["also_in"])} == {
        "curie.txt",
        "curie (copy).txt",
    }


async def test_a_double_takes_no_tokens_and_no_place_among_the_best(api: httpx.AsyncClient) -> None:
    body = {"query": QUESTION, "mode": "naive", "chunk_top_k": 3}
    answer = (await api.post("/query/data", json=body)).json()
    api_without_copies = httpx.AsyncClient(
        transport=httpx.ASGITransport((await library_of_two()).app()), base_url="http://api"
    )
    async with api_without_copies:
        without = (await api_without_copies.post("/query/data", json=body)).json()
    token_counts = [
        reply["metadata"]["token_budget"]["passages"]["used"] for reply in (answer, without)
    ]
    assert token_counts[0] <= token_counts[1]
    assert answer["metadata"]["processing_info"]["final_chunks_count"] == len(
        answer["data"]["chunks"]
    )


async def test_the_references_say_where_else_it_stands(api: httpx.AsyncClient) -> None:
    answer = (await api.post("/query", json={"query": QUESTION, "mode": "naive"})).json()
    name_sets = [
        {reference["file_path"], *reference.get("also_in", ())}
        for reference in answer["references"]
    ]
    assert {"curie.txt", "curie (copy).txt"} in name_sets
    message = {"role": "user", "content": QUESTION}
    reply = (
        await api.post(
            "/v1/chat/completions", json={"model": "lightstream:naive", "messages": [message]}
        )
    ).json()
    assert "(also in curie" in reply["choices"][0]["message"]["content"]
    baker = (
        await api.post("/query", json={"query": "What does the baker sell?", "mode": "naive"})
    ).json()
    assert all(
        "also_in" not in reference
        for reference in baker["references"]
        if reference["file_path"] == "baker.txt"
    )


def test_the_same_sentence_below_other_headings_is_no_double() -> None:
    passages = [
        Passage(f"{n}", "d", n, "It costs 5 €.", "prices.md", headings=(heading,))
        for n, heading in enumerate(("Ferry", "Tram", "Ferry"))
    ]
    distinct = distinct_passages(passages)
    assert [passage.id for passage in distinct.passages] == ["0", "1"]
    assert {
        id: [passage.id for passage in doubles] for id, doubles in distinct.doubles.items()
    } == {"0": ["2"]}


@given(
    st.text(st.sampled_from("a e1.,\u0301\u0338\u00ad\u200b\u00a0\u2019\u3002\uff0c\u200d\u0663;<"))
)
def test_signs_of_a_passage_are_those_of_every_spelling(text: str) -> None:
    compared = " ".join(one_spelling(text).split())
    assert [text.count(sign) for sign in SIGNS] == [compared.count(sign) for sign in SIGNS]


def test_only_passages_with_the_same_signs_are_brought_into_one_spelling(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    spelt = list[str]()

    def spelling(text: str) -> str:
        spelt.append(text)
        return one_spelling(text)

    monkeypatch.setattr("services.query.retrieval.doubles.one_spelling", spelling)
    texts = [f"In {1900 + number} the house was built." for number in range(20)]
    texts.append("In 1900 the\u00a0house was built.")
    passages = [Passage(str(number), "d", number, text, "f") for number, text in enumerate(texts)]
    distinct = distinct_passages(passages)
    assert [passage.id for passage in distinct.passages] == [str(number) for number in range(20)]
    assert [double.id for double in distinct.doubles["0"]] == ["20"]
    assert 2 <= len(spelt) < 10
