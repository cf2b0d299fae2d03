"""How well a sentence fits a question."""

import pytest

from offline.answers.relevance import (
    RELATED,
    SentenceTerms,
    lexical_scores,
    names,
    numbers,
    terms,
    wanted_terms,
)
from offline.language.stems import answer_stem


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("contributes", "contributed"),
        ("ships", "ship"),
        ("ratify", "ratified"),
        ("adopting", "adoption"),
        ("led", "leads"),
    ],
)
def test_forms_of_a_word_have_one_stem(one: str, other: str) -> None:
    assert answer_stem(one) == answer_stem(other)


def test_short_words_and_stopwords_are_left_alone() -> None:
    assert terms("What is the class of gas?") == {"class", "gas"}
    assert terms("北京在哪里") >= {"北", "京"}


def test_a_sentence_with_all_words_scores_one_and_words_around_it_count_half() -> None:
    question = terms("Where does the ship anchor?")
    ship, anchor = terms("ship"), terms("anchor")
    whole, half, outside, none = lexical_scores(
        question,
        [
            SentenceTerms(ship | anchor, ship),
            SentenceTerms(ship, anchor),
            SentenceTerms(frozenset(), ship | anchor),
            SentenceTerms(frozenset(), frozenset()),
        ],
    )
    assert whole == pytest.approx(1.0)
    assert half == pytest.approx(0.75, abs=0.1)
    assert outside == pytest.approx(0.5)
    assert none == 0.0


def test_rare_words_weigh_more() -> None:
    scores = lexical_scores(
        terms("rare common"),
        [
            *[SentenceTerms(terms("common"), frozenset())] * 20,
            SentenceTerms(terms("rare"), frozenset()),
        ],
    )
    assert scores[-1] > 1.5 * scores[0]


@pytest.mark.parametrize(
    ("question", "found"),
    [
        ("Who was Dr. Watson of Baker Street?", {"dr", "watson", "baker", "street"}),
        ("Does CC0 waive patents?", {"cc0"}),
        ("who was watson?", set[str]()),
        ("Open A New Account?", set[str]()),
        ("Where is it?", set[str]()),
        ("The lamp went out again. Possible? Why?", set[str]()),
        ("Where did Mr. Penn buy it? Bo wants to know.", {"mr", "penn"}),
        ("Can two people use one PC, and read PDFs on it?", set[str]()),
    ],
)
def test_names_are_words_with_a_capital_but_not_those_of_a_title(
    question: str, found: set[str]
) -> None:
    assert names(question) == found


def test_numbers_of_items_and_parts_of_numbers_are_no_numbers() -> None:
    assert numbers("1. Version 3 of (2) pages costs 4.50 for 18F, in 1998.") == {"3", "1998"}


def test_a_word_inside_another_counts_as_related() -> None:
    wanted = terms("Wie viel Speicher?", "german")
    sentence = SentenceTerms(terms("Der Speicherbedarf ist groß.", "german"), frozenset())
    assert lexical_scores(wanted, [sentence]) == [pytest.approx(RELATED)]


def test_a_german_noun_is_no_name() -> None:
    question = "Wie lange gilt die Fahrkarte des SemesterTickets in Zone B2?"
    assert names(question, "german") == terms("SemesterTickets B2", "german")


def test_the_author_of_a_definition_is_no_name_and_no_word_of_the_question() -> None:
    question = "How does Arthur Penn define applause?"
    assert names(question) == frozenset()
    assert wanted_terms(question) == terms("applause")


def test_words_that_only_ask_are_not_wanted() -> None:
    assert wanted_terms("What does applause mean?") == terms("applause")
    assert wanted_terms("Was bedeutet Beifall?", "german") == terms("beifall", "german")
    assert wanted_terms("What does it mean?") == terms("mean")


def test_chinese_is_compared_by_characters_and_pairs_without_words_of_grammar() -> None:
    assert terms("借书证丢了怎么办") == {"借", "书", "证", "丢", "借书", "书证", "证丢"}
