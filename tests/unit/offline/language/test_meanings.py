"""Words of near meaning."""

from importlib.resources import files

import pytest

from offline.language.languages import term_stem
from offline.language.meanings import is_light, meanings


def means(word: str, language: str) -> frozenset[str]:
    return meanings(term_stem(language, word), language)


@pytest.mark.parametrize(
    ("language", "word", "other"),
    [
        ("english", "fee", "costs"),
        ("german", "gebühren", "kostet"),
        ("german", "waschmaschine", "waschen"),
        ("french", "frais", "coûte"),
        ("spanish", "tarifa", "cuesta"),
        ("russian", "цена", "стоит"),
        ("chinese", "费用", "价格"),
    ],
)
def test_words_of_one_meaning_share_it(language: str, word: str, other: str) -> None:
    assert means(word, language) & means(other, language)
    assert not means(word, language) & means("zzz", language)


def test_unknown_words_and_languages_mean_nothing() -> None:
    assert means("grommet", "english") == means("prezzo", "italian") == frozenset()


def test_words_that_any_text_may_have_are_light() -> None:
    assert is_light(term_stem("german", "brauche"), "german")
    assert not is_light(term_stem("german", "miete"), "german")


def test_each_language_has_the_same_meanings_once() -> None:
    folder = files("offline.language") / "meanings"
    names = [
        [line.partition(":")[0] for line in path.read_text("utf-8").splitlines()]
        for path in folder.iterdir()
    ]
    assert len(names) == 6
    assert all(listed == names[0] for listed in names)
    assert len(set(names[0])) == len(names[0])
