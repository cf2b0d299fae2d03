"""How well a sentence fits a question."""

import pytest

from offline.answers.relevance import (
    AGREES,
    LACKS,
    LACKS_NAME,
    agreement,
    lexical_scores,
    names,
    numbers,
    terms,
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
    question = "Where does the ship anchor?"
    ship, anchor = terms("ship"), terms("anchor")
    whole, half, outside, none = lexical_scores(
        question,
        [
            (ship | anchor, ship),
            (ship, anchor),
            (frozenset(), ship | anchor),
            (frozenset(), frozenset[str]()),
        ],
    )
    assert whole == pytest.approx(1.0)
    assert half == pytest.approx(0.75, abs=0.1)
    assert outside == pytest.approx(0.5)
    assert none == 0.0


def test_rare_words_weigh_more() -> None:
    scores = lexical_scores(
        "rare common",
        [(terms("common"), frozenset[str]())] * 20 + [(terms("rare"), frozenset[str]())],
    )
    assert scores[-1] > 1.5 * scores[0]


@pytest.mark.parametrize(
    ("question", "sentence", "expected"),
    [
        ("How many ships are there?", "There are seven ships.", AGREES),
        ("How old is she?", "She is 30.", AGREES),
        ("How many people work at 18F?", "Nobody at 18F knows.", LACKS),
        ("When did it open?", "It opened on 4 May 1974.", AGREES),
        ("When did it open?", "It opened with a speech.", LACKS),
        ("In which year did it open?", "It opened in spring of that year.", LACKS),
        ("In which year did it open?", "It opened in 1974.", AGREES),
        ("Who built it?", "It was built by Ilse Brandt.", AGREES),
        ("What does a card cost when one is lost?", "A new card is cheap.", 0.0),
        ("How many sail with the captain who is old?", "Nobody sails.", LACKS),
        ("Who is Ilse Brandt?", "We all know that Ilse Brandt is old.", LACKS_NAME),
        ("What is a hub?", "A hub is large.", 0),
    ],
)
def test_the_kind_of_answer_agrees_or_not(question: str, sentence: str, expected: float) -> None:
    assert agreement(question, sentence) == expected


@pytest.mark.parametrize(
    ("question", "found"),
    [
        ("Who was Dr. Watson of Baker Street?", {"dr", "watson", "baker", "street"}),
        ("Does CC0 waive patents?", {"cc0"}),
        ("who was watson?", set[str]()),
        ("Open A New Account?", set[str]()),
        ("Where is it?", set[str]()),
    ],
)
def test_names_are_words_with_a_capital_but_not_those_of_a_title(
    question: str, found: set[str]
) -> None:
    assert names(question) == found


def test_numbers_of_items_and_parts_of_numbers_are_no_numbers() -> None:
    assert numbers("1. Version 3 of (2) pages costs 4.50 for 18F, in 1998.") == {"3", "1998"}
