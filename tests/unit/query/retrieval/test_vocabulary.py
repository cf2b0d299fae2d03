"""Words of passages by numbers: what is known of each, and what becomes of very many."""

import pytest

from offline.language.stems import stem
from services.query.passage import Passage
from services.query.retrieval.name_keys import word_keys
from services.query.retrieval.passage_index import joined_words as joining
from services.query.retrieval.passage_index.passage_words import PassageWords, words_of
from services.query.retrieval.passage_index.vocabulary import NO_STEM, Vocabulary

WORDS = ["the", "founder", "of", "elm", "port", "founder", "x"]


def passage(text: str) -> PassageWords:
    return words_of(Passage("p", "d", 0, text, "f"))


def test_what_is_known_of_words_is_what_is_worked_out_for_each() -> None:
    vocabulary = Vocabulary()
    for _ in range(2):
        numbers = vocabulary.numbers_of("\n".join(WORDS))
        assert [vocabulary.forms[number] for number in numbers] == WORDS
        assert vocabulary.keys_of(numbers).tolist() == word_keys(WORDS).tolist()
        stems = [NO_STEM if word in ("the", "of", "x") else stem(word) for word in WORDS]
        assert vocabulary.stem_keys_of(numbers).tolist() == word_keys(stems).tolist()
        assert vocabulary.are_content(numbers).tolist() == [bool(stem) for stem in stems]
    assert len(vocabulary) == len(set(WORDS))
    assert len(vocabulary.numbers_of("")) == 0


def test_very_many_words_are_forgotten_and_read_again(monkeypatch: pytest.MonkeyPatch) -> None:
    text = passage("Ada Marsh founded Elm Port.")
    before = joining.joined_words([text])
    monkeypatch.setattr(joining, "MAX_DISTINCT", 3)
    joining.forget_words()
    assert len(joining.vocabulary) == 0
    joining.joined_words([passage("Blue Harbour fell.")])
    after = joining.joined_words([text])
    assert after.forms(0, 5) == ["ada", "marsh", "founded", "elm", "port"]
    assert after.keys.tolist() == before.keys.tolist()
    assert after.is_content.tolist() == before.is_content.tolist()
