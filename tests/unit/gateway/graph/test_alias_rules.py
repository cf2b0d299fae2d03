"""Rules propose pairs of names that mean the same, and leave alone what only looks so."""

import pytest

from services.gateway.graph.alias_rules import definition, pairs


@pytest.mark.parametrize(
    ("entity", "other_entity", "rule"),
    [
        (("Zürich", "location"), ("Zurich", "location"), "spelling"),
        (("Müller", "person"), ("Mueller", "person"), "spelling"),
        (("Łódź", "location"), ("Lodz", "location"), "spelling"),
        (("Толстой", "person"), ("Tolstoy", "person"), "spelling"),
        (("毛泽东", "person"), ("Mao Zedong", "person"), "spelling"),
        (("北京", "location"), ("南京", "location"), None),
        (("Tide-Mill", "location"), ("Tide Mill", "location"), "spelling"),
        (("GPT-4", "other"), ("GPT 4", "concept"), "spelling"),
        (("harbour office", "organization"), ("Harbour Office", "organization"), "spelling"),
        (("U.S.A.", "location"), ("USA", "location"), "spelling"),
        (("language models", "concept"), ("language model", "concept"), "plural"),
        (("Batteries", "concept"), ("battery", "concept"), "plural"),
        (("The Harbour Office", "organization"), ("Harbour Office", "organization"), "title"),
        (("Dr. Ada Marlow", "person"), ("Ada Marlow", "person"), "title"),
        (("WHO", "organization"), ("World Health Organization", "organization"), "abbreviation"),
        (("BoE", "other"), ("Bureau of Education", "organization"), None),
        (
            ("NASA", "other"),
            ("National Aeronautics and Space Administration", "organization"),
            "abbreviation",
        ),
        (
            ("Tide Mill Trust", "organization"),
            ("Tide Mill Trust (TMT)", "organization"),
            "abbreviation",
        ),
        (("Curie", "person"), ("Marie Curie", "person"), "surname"),
        (("M. Curie", "person"), ("Marie Curie", "person"), "surname"),
        (("Captain Marlow", "person"), ("Ada Marlow", "person"), "surname"),
        (("P. Curie", "person"), ("Marie Curie", "person"), None),
        (("3.11", "other"), ("311", "other"), None),
        (("Python 3.11", "other"), ("Python 311", "other"), None),
        (("IT", "concept"), ("it", "concept"), None),
        (("Apple", "organization"), ("apple", "concept"), None),
        (("Adams", "person"), ("Adam", "person"), None),
        (("C", "concept"), ("C++", "concept"), None),
        (("Radium", "data"), ("Radius", "data"), None),
        (("Curie", "data"), ("Marie Curie", "person"), None),
        (("Paris", "location"), ("Paris Hilton", "person"), None),
    ],
    ids=lambda parameter: parameter[0] if isinstance(parameter, tuple) else parameter,
)
def test_two_names_are_proposed_by_one_rule_or_none(
    entity: tuple[str, str], other_entity: tuple[str, str], rule: str | None
) -> None:
    result = pairs([entity, other_entity])
    assert [(frozenset(pair[:2]), pair.rule) for pair in result] == (
        [(frozenset((entity[0], other_entity[0])), rule)] if rule else []
    )
    if rule not in (None, "spelling"):
        assert result[0].name == entity[0]


@pytest.mark.parametrize(
    "names",
    [
        [
            ("WHO", "organization"),
            ("World Health Organization", "organization"),
            ("Wild Horse Office", "organization"),
        ],
        [("Curie", "person"), ("Marie Curie", "person"), ("Pierre Curie", "person")],
    ],
)
def test_what_may_mean_two_things_is_not_proposed(names: list[tuple[str, str]]) -> None:
    assert pairs(names) == []


def test_the_order_of_names_makes_no_difference() -> None:
    names = [
        ("Zürich", "location"),
        ("zurich", "location"),
        ("Zurich", "location"),
        ("Language Models", "concept"),
        ("Language Model", "concept"),
        ("LM", "concept"),
    ]
    assert {frozenset(pair[:2]) for pair in pairs(names)} == {
        frozenset(pair[:2]) for pair in pairs(names[::-1])
    }


@pytest.mark.parametrize(
    ("text", "phrase"),
    [
        ("The World Health Organization (WHO) sits in Geneva.", "World Health Organization (WHO)"),
        ("the world health organization (“WHO”) says", "world health organization (“WHO”)"),
        ("WHO (World Health Organization)", "WHO (World Health Organization)"),
        ("World Health Organization, not WHO", ""),
    ],
)
def test_a_text_defines_an_abbreviation_in_brackets(text: str, phrase: str) -> None:
    assert definition(text, "WHO", "World Health Organization") == phrase
