"""How well a sentence fits a question."""

import pytest

from services.query.offline.relevance import agreement, lexical_scores, stem, terms


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
    assert stem(one) == stem(other)


def test_short_words_and_stopwords_are_left_alone() -> None:
    assert terms("What is the class of gas?") == {"class", "gas"}
    assert terms("北京在哪里") >= {"北", "京"}


def test_a_sentence_with_all_words_scores_one_and_words_around_it_count_half() -> None:
    question = "Where does the ship anchor?"
    ship, anchor = terms("ship"), terms("anchor")
    whole, half, outside, none = lexical_scores(
        question, [(ship | anchor, ship), (ship, anchor), (frozenset(), ship | anchor), (frozenset(), frozenset())]
    )
    assert whole == pytest.approx(1.0)
    assert half == pytest.approx(0.75, abs=0.1)
    assert outside == pytest.approx(0.5)
    assert none == 0.0


def test_rare_words_weigh_more() -> None:
    scores = lexical_scores("rare common", [(terms("common"), frozenset())] * 20 + [(terms("rare"), frozenset())])
    assert scores[-1] > 1.5 * scores[0]


@pytest.mark.parametrize(
    ("question", "sentence", "expected"),
    [
        ("How many ships are there?", "There are seven ships.", 1),
        ("How old is she?", "She is 30.", 1),
        ("How many people work at 18F?", "Nobody at 18F knows.", -1),
        ("When did it open?", "It opened on 4 May 1974.", 1),
        ("When did it open?", "It opened with a speech.", -1),
        ("Who built it?", "It was built by Ilse Brandt.", 1),
        ("Who is Ilse Brandt?", "We all know that Ilse Brandt is old.", -1),
        ("What is a hub?", "A hub is large.", 0),
    ],
)
def test_the_kind_of_answer_agrees_or_not(question: str, sentence: str, expected: int) -> None:
    assert agreement(question, sentence) == expected
