"""Names are looked for in many words at once: the longest one that begins at each."""

import random
from itertools import product

import numpy as np

from services.query.passage import Passage
from services.query.retrieval.name_index import NameIndex
from services.query.retrieval.name_keys import KeyTable, name_key, span_keys, word_keys
from services.query.retrieval.passage_index.joined_words import joined_words
from services.query.retrieval.passage_index.named_spans import named_spans
from services.query.retrieval.passage_index.passage_words import words_of

WORDS = ("Ada", "Marsh", "Blue", "Harbour", "River", "the", "of", "near", "Gray")


def test_a_table_has_a_number_for_its_keys_and_none_for_others() -> None:
    keys = word_keys(["a", "b", "a", "c"])
    lookup = word_keys(["c", "x", "a", "b"])
    assert KeyTable.of_counts(keys).values_of(lookup).tolist() == [1, 0, 2, 1]
    values = np.array([3, 7, 5, 2])
    assert KeyTable.of_values(keys, values).values_of(lookup).tolist() == [2, 0, 5, 7]
    assert KeyTable.of_counts(word_keys([])).values_of(lookup).tolist() == [0, 0, 0, 0]


def test_the_key_of_a_span_is_that_of_its_words_in_their_order() -> None:
    words = ["blue", "harbour", "of", "blue", "harbour"]
    keys = span_keys(word_keys(words), np.array([0, 3, 0, 4]), np.array([2, 2, 5, 1]))
    spans = (words[:2], words[3:], words, words[4:])
    assert keys.tolist() == [name_key(span) for span in spans]
    assert name_key(["blue", "harbour"]) != name_key(["harbour", "blue"])


def longest_names(text: str, names: set[str]) -> list[str]:
    """The same word by word: of names with a capitalised word, the longest at each place."""
    tokens = text.split()
    chosen_names: list[str] = []
    position = 0
    while position < len(tokens):
        lengths = [
            length
            for length in range(1, len(tokens) - position + 1)
            if " ".join(tokens[position : position + length]) in names
        ]
        if lengths:
            chosen_names.append(" ".join(tokens[position : position + lengths[-1]]))
        position += max([1, *lengths])
    return chosen_names


def test_all_names_of_a_text_are_those_that_a_search_word_by_word_finds() -> None:
    chance = random.Random(7)
    for _ in range(50):
        names: set[str] = set()
        while len(names) < 8:
            words = chance.choices(WORDS, k=chance.randint(1, 4))
            if any(word.istitle() for word in words) and words[0] != "the":
                names.add(" ".join(words))
        index = NameIndex()
        index.add((name, "place") for name in sorted(names))
        text = " ".join(chance.choices(WORDS, k=40))
        spans = named_spans(joined_words([words_of(Passage("p", "d", 0, text, "f"))]), index)
        names_of_spans = [
            index.names_of(spans.named_entities.of(int(meaning)).tolist())
            for meaning in spans.meanings
        ]
        assert names_of_spans == [(name,) for name in longest_names(text, names)]


def test_a_name_that_is_added_later_is_found_too() -> None:
    words = joined_words([words_of(Passage("p", "d", 0, "Ada Marsh Senior flew.", "f"))])
    index = NameIndex()
    index.add([("Ada Marsh", "place")])
    assert named_spans(words, index).lengths.tolist() == [2]
    index.add([("Ada Marsh Senior", "place")])
    assert named_spans(words, index).lengths.tolist() == [3]


def test_names_that_come_and_go_leave_what_an_index_of_those_left_has() -> None:
    chance = random.Random(11)
    kinds = ("person", "place")
    for _ in range(20):
        index = NameIndex()
        types: dict[str, str] = {}
        for _ in range(6):
            changed: dict[str, str | None] = {}
            for _ in range(5):
                name = " ".join(chance.choices(WORDS, k=chance.randint(1, 3)))
                changed[name] = chance.choice((None, *kinds))
            index.renew(changed)
            types = {**types, **{n: t for n, t in changed.items() if t}}
            types = {n: t for n, t in types.items() if changed.get(n, t)}
            _same(index, types)


def _same(index: NameIndex, types: dict[str, str]) -> None:
    fresh_index = NameIndex()
    fresh_index.add(sorted(types.items()))
    assert len(index) == len(fresh_index) == len(types)
    forms = [" ".join(pair).lower() for pair in product(WORDS, WORDS)]
    forms += [word.lower() for word in WORDS]
    for form in [*forms, "ada mrsh", "blue harbuor", "grey rivers"]:
        assert index.by_name(form) == fresh_index.by_name(form)
        assert index.by_surname(form) == fresh_index.by_surname(form)
        assert index.by_spelling(form) == fresh_index.by_spelling(form)
    keys = np.array([name_key(form.split()) for form in forms], np.uint64)
    tables = index.tables()
    fresh_tables = fresh_index.tables()
    assert tables.are_names(keys, 3).tolist() == fresh_tables.are_names(keys, 3).tolist()
    assert tables.are_surnames(keys).tolist() == fresh_tables.are_surnames(keys).tolist()
    only = [index.names_of([n]) if n >= 0 else () for n in tables.only_entities(keys)]
    fresh_only = fresh_tables.only_entities(keys)
    assert only == [fresh_index.names_of([n]) if n >= 0 else () for n in fresh_only]
