"""Words whose vectors are remembered."""

import pytest

from runtime.models.lexical import LexicalEmbedder
from runtime.models.scripted import CountingEmbedder
from services.query.models import RememberedWords


async def test_a_word_is_embedded_once_while_it_is_remembered() -> None:
    inner = CountingEmbedder(LexicalEmbedder(32))
    words = RememberedWords(inner, most=2)
    first = await words.embed(["one", "two", "one"])
    assert first[0] == first[2] and first[0] == pytest.approx((await inner.embed(["one"]))[0], abs=1e-6)
    embedded = inner.count
    assert await words.embed(["two"]) == [first[1]] and inner.count == embedded
    await words.embed(["three"])
    assert await words.embed(["two"]) == [first[1]] and inner.count == embedded + 1
    await words.embed(["one"])
    assert inner.count == embedded + 2
    assert await words.embed([]) == []
