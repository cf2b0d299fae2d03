"""Words and sentences whose vectors are remembered."""

import pytest

from offline.embeddings.lexical import LexicalEmbedder
from runtime.models.scripted import CountingEmbedder
from services.query.adapters.offline import ExtractiveAnswerGenerator
from services.query.adapters.word_embeddings import CachedWordEmbedder
from services.query.context.prompt import Prompt
from services.query.passage import Passage


async def test_a_word_is_embedded_once_while_it_is_remembered() -> None:
    inner = CountingEmbedder(LexicalEmbedder(32))
    words = CachedWordEmbedder(inner, max_texts=2)
    first = await words.embed(["one", "two", "one"])
    assert first[0] == first[2] and first[0] == pytest.approx(
        (await inner.embed(["one"]))[0], abs=1e-6
    )
    count = inner.count
    assert await words.embed(["two"]) == [first[1]] and inner.count == count
    await words.embed(["three"])
    assert await words.embed(["two"]) == [first[1]] and inner.count == count + 1
    await words.embed(["one"])
    assert inner.count == count + 2
    assert await words.embed([]) == []


async def test_two_answers_from_the_same_sentences_embed_them_once() -> None:
    inner = CountingEmbedder(LexicalEmbedder(32))
    answers = ExtractiveAnswerGenerator(CachedWordEmbedder(inner))
    read = [
        (
            "1",
            Passage(
                "p",
                "d",
                0,
                "The harbour has a lighthouse of stone. The ships come in at night.",
                "a.md",
            ),
        )
    ]
    first = await answers.answer(Prompt("", "What has the harbour?"), read)
    count = inner.count
    second = await answers.answer(Prompt("", "When do the ships come in?"), read)
    assert "lighthouse" in first.text
    assert "at night" in second.text
    assert inner.count == count + 1, "the question alone is new"
