"""The local embedder: meaning, sameness in any company, and a free event loop."""

import asyncio
import math
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import pytest_asyncio

from offline.embeddings import minilm
from offline.embeddings.minilm import MODEL_SHA256, WINDOW
from offline.embeddings.wordpiece import WordPiece
from runtime.errors import ConfigurationError
from runtime.models.call_scope import calls_for
from runtime.models.minilm import MiniLmEmbedder
from runtime.models.port import Embedder, Vector

in_one_loop = pytest.mark.asyncio(loop_scope="module")


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def embedder() -> AsyncIterator[MiniLmEmbedder]:
    embedder = MiniLmEmbedder(threads=2)
    yield embedder
    await embedder.close()


def cosine(first: Vector, second: Vector) -> float:
    return sum(a * b for a, b in zip(first, second, strict=True))


@in_one_loop
async def test_vectors_have_length_one_and_the_said_dimension(embedder: Embedder) -> None:
    vectors = await embedder.embed(["a text", "", " \n", "\ud800", "中文"])
    assert [len(vector) for vector in vectors] == [embedder.dimension] * 5
    assert all(math.isclose(math.hypot(*vector), 1.0, rel_tol=1e-9) for vector in vectors)
    assert await embedder.embed([]) == []


@in_one_loop
async def test_paraphrases_are_nearer_than_shared_words(embedder: Embedder) -> None:
    question, answer, lure = await embedder.embed(
        [
            "How can I get into my account again?",
            "Steps to recover a forgotten password",
            "An account of the war in Gaul",
        ]
    )
    assert cosine(question, answer) > cosine(question, lure) + 0.1


@in_one_loop
async def test_a_vector_is_the_same_alone_and_in_any_company(embedder: Embedder) -> None:
    texts = ["short", "a longer text about rivers " * 30, "", "numbers 1 2 3", "word " * 700]
    together = await embedder.embed(texts)
    assert together == [(await embedder.embed([text]))[0] for text in texts]
    assert together == (await embedder.embed(texts[::-1]))[::-1]


@in_one_loop
async def test_every_window_of_a_long_text_counts(embedder: Embedder) -> None:
    filler = "The weather was mild and the road was long. " * 60
    filler_vector, with_tail, tail = await embedder.embed(
        [filler, filler + "Quantum chromodynamics binds quarks. " * 60, "quarks"]
    )
    assert len(filler.split()) > 2 * WINDOW
    assert cosine(with_tail, tail) > cosine(filler_vector, tail) + 0.2


@in_one_loop
async def test_the_event_loop_stays_free(embedder: Embedder) -> None:
    work = asyncio.create_task(embedder.embed(["some words of a passage " * 60] * 20))
    turns = 0
    while not work.done():
        await asyncio.sleep(0.005)
        turns += 1
    assert len(work.result()) == 20
    assert turns > 20


@in_one_loop
async def test_a_text_of_one_workspace_does_not_wait_for_the_many_of_another(
    embedder: MiniLmEmbedder,
) -> None:
    order: list[str] = []

    async def embed(workspace: str, text: str) -> None:
        with calls_for(workspace):
            await embedder.embed([text])
        order.append(workspace)

    flood = [
        asyncio.create_task(embed("flood", f"passage {number} " + "of some words " * 60))
        for number in range(40)
    ]
    await asyncio.sleep(0)
    await embed("quiet", "a question")
    assert order.count("flood") < 10, "it waited for its turn, not for all of them"
    await asyncio.gather(*flood)
    assert (order.count("flood"), order.count("quiet")) == (40, 1)


@in_one_loop
async def test_the_model_name_holds_the_hash_of_the_weights(embedder: Embedder) -> None:
    assert embedder.model == f"all-MiniLM-L6-v2-int8-dynamic@{MODEL_SHA256[:12]}"


@in_one_loop
async def test_vectors_of_floats_are_near_and_have_another_model_name(embedder: Embedder) -> None:
    floats = MiniLmEmbedder(threads=1, floats=True)
    texts = ["a question", "a longer text about rivers " * 30, "word " * 700]
    pairs = zip(await embedder.embed(texts), await floats.embed(texts), strict=True)
    await floats.close()
    assert floats.model == f"all-MiniLM-L6-v2-int8@{MODEL_SHA256[:12]}"
    assert all(0.97 < cosine(of_bytes, of_floats) < 0.99999 for of_bytes, of_floats in pairs), (
        "near, and not to be mixed"
    )


@in_one_loop
async def test_closing_twice_changes_nothing() -> None:
    embedder = MiniLmEmbedder(threads=1)
    await embedder.embed(["a"])
    await embedder.close()
    await embedder.close()


def test_a_changed_vocabulary_keeps_the_process_from_starting(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    vocabulary = tmp_path / "vocabulary.txt"
    vocabulary.write_text("[UNK]\n")
    monkeypatch.setattr(minilm, "WordPiece", lambda: WordPiece(vocabulary))
    with pytest.raises(ConfigurationError, match="install the package again"):
        MiniLmEmbedder()
