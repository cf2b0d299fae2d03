"""Names of a question that no passage has."""

import pytest

from offline.answers.extractive_answer import NOT_SAID, SourcePassage, extractive_answer
from offline.answers.respelling import respelled
from offline.embeddings.lexical import LexicalEmbedder

TEXTS = ["Nicolaus Copernicus was born in Thorn.", "The lamp of Marlow burns, and Marlon pays."]


@pytest.mark.parametrize(
    ("question", "expected_question"),
    [
        ("Where was Coprnicus born?", "Where was Copernicus born?"),
        ("Where was Kopernikus born?", "Where was Copernicus born?"),
        ("Where was Copérnicus born?", "Where was Copernicus born?"),
        ("Where was Copernicus born?", "Where was Copernicus born?"),
        ("Where was Galileo born?", "Where was Galileo born?"),
        ("Who pays for the lamp of Marlot?", "Who pays for the lamp of Marlot?"),
        ("Where does the Thon flow?", "Where does the Thon flow?"),
        ("WHERE WAS COPRNICUS BORN?", "WHERE WAS COPRNICUS BORN?"),
    ],
)
def test_a_name_is_read_as_the_only_one_that_is_near(question: str, expected_question: str) -> None:
    assert respelled(question, TEXTS, "english") == expected_question


async def test_a_misspelt_name_bars_no_answer_and_another_name_still_does() -> None:
    passages = [SourcePassage("1", text) for text in TEXTS]
    embedder = LexicalEmbedder(256)
    answer = await extractive_answer("Where was Coprnicus born?", passages, embedder)
    assert TEXTS[0] in answer
    refusal = await extractive_answer("Where was Galileo born?", passages, embedder)
    assert refusal.startswith(NOT_SAID)
