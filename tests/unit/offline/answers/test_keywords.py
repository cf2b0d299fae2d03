"""Keywords of a question without a model."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from offline.answers.keywords import MOST, keywords


def test_names_come_before_other_words() -> None:
    high, low = keywords("Who founded Acme Corporation?")
    assert low == ["Acme Corporation", "founded"]
    assert high == ["Who founded Acme Corporation"]


def test_phrases_of_content_words_are_themes() -> None:
    high, low = keywords("what is machine learning used for in climate science?")
    assert high == ["machine learning", "climate science"]
    assert low == ["machine", "learning", "climate", "science"]


def test_lower_case_names_are_still_low_level() -> None:
    assert {"john", "williams"} <= set(keywords("who composed for john williams")[1])


def test_chinese_questions_have_keywords() -> None:
    assert "马云" in keywords("马云创立了哪家公司？")[1]
    assert "机器学习" in keywords("什么是机器学习？")[1]


@pytest.mark.parametrize("question", ["???", "the and of", "为什么", "a", "\u0301"])
def test_odd_questions_are_their_own_theme(question: str) -> None:
    assert keywords(question)[0]


def test_a_blank_question_has_none() -> None:
    assert keywords(" \n\u3000") == ([], [])


@given(st.text())
def test_any_question_that_is_not_blank_has_keywords(question: str) -> None:
    high, low = keywords(question)
    assert bool(high or low) == bool(question.strip())
    assert all(keyword.strip() for keyword in high + low)
    assert len(high) <= MOST
    assert len(low) <= MOST


def test_a_book_for_a_question_is_bounded() -> None:
    high, low = keywords("Ada Lovelace met Charles Babbage and wrote long programs. " * 20_000)
    assert len("".join(high + low)) < 5_000
