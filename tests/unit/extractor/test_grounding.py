"""Rows whose names the passage does not hold are kept, and marked."""

import pytest

from services.extractor.domain.extraction import Extraction
from services.extractor.domain.grounding import mark_grounded
from tests.support.events import entity, relation


def is_grounded(name: str, passage: str) -> bool:
    return mark_grounded(Extraction((entity(name),), ()), passage).entities[0].grounded


@pytest.mark.parametrize(
    ("name", "passage"),
    [
        ("Marie Curie", "MARIE\n  CURIE was there"),
        ("苹果公司", "“苹果 公司”在加州"),
        ("O'Neil", "Then O’Neil came"),
        ("R&D", "the R&amp;D department"),
        ("Ship", "many ships"),
        ("ABC1", "the ＡＢＣ１ model"),
        ("A-B", "the A—B line"),
        ("C++", "written in C++."),
        ("straße", "STRASSE"),
        ("公司", "苹果公司"),
        ("new york", "New\xa0York"),
    ],
)
def test_a_name_in_another_spelling_is_in_the_passage(name: str, passage: str) -> None:
    assert is_grounded(name, passage)


@pytest.mark.parametrize(
    ("name", "passage"),
    [("Ship", "a friendship"), ("Paris", "in France"), ("Curie Marie", "Marie Curie"), ("A", "")],
)
def test_a_name_that_the_passage_does_not_hold_is_marked(name: str, passage: str) -> None:
    assert not is_grounded(name, passage)


def test_a_relation_is_marked_when_one_of_its_names_is_missing_and_nothing_is_left_out() -> None:
    rows = Extraction(
        (entity("Zoe"), entity("Rome")),
        (relation("Zoe", "Rome"), relation("Rome", "Yan"), relation("Zoe", "Yan")),
    )
    extraction = mark_grounded(rows, "Zoe knows Yan")
    assert [row.grounded for row in extraction.entities] == [True, False]
    assert [row.grounded for row in extraction.relations] == [False, False, True]
    assert [row.name for row in extraction.entities] == ["Zoe", "Rome"]
