"""Rows at the beginning of a passage have the names of their columns."""

import pytest

from offline.answers.cut_tables import with_header
from offline.answers.quotable_sentences import quotable


def rows(text: str, preceding: str) -> list[str]:
    parts = quotable(with_header(text, preceding), begins_inside=True)
    return [part.text for part in parts if part.is_row]


@pytest.mark.parametrize(
    ("preceding", "text"),
    [
        (
            "Crew.\n\n| Name | Boat |\n|---|---|\n| Ann | Gull |\n| Bo ",
            "| Tern |\n| Cy | Auk |\n| Di | Skua |\n\nThat is all.",
        ),
        (
            "Crew.\n\n| Name | Boat |\n|---",
            "|---|\n| Cy | Auk |\n| Di | Skua |\n",
        ),
        (
            "+------+------+\n| Name | Boat |\n+======+======+\n| Ann  | Gull |\n+------+------+\n",
            "| Cy   | Auk  |\n+------+------+\n| Di   | Skua |\n+------+------+\n",
        ),
        (
            "=====  ====\nName   Boat\n=====  ====\nAnn    Gull\n",
            "Cy     Auk\nDi     Skua\n=====  ====\n",
        ),
    ],
)
def test_the_header_is_found_before_the_passage(preceding: str, text: str) -> None:
    assert rows(text, preceding)[-2:] == ["Name: Cy; Boat: Auk", "Name: Di; Boat: Skua"]


def test_the_header_is_found_where_the_chunker_repeats_it() -> None:
    text = "Gull |\n| Cy | Auk |\n\n| Name | Boat |\n|---|---|\n| Di | Skua |\n"
    assert rows(text, "") == ["Name: Cy; Boat: Auk", "Name: Di; Boat: Skua"]


def test_no_header_is_taken_from_another_table_or_from_prose() -> None:
    three = "Gull |\n| Cy | Auk |\n\n| Name | Boat | Age |\n|---|---|---|\n| Di | Skua | 3 |\n"
    assert rows(three, "") == ["Name: Di; Boat: Skua; Age: 3"]
    assert rows("| Cy | Auk |\n| Di | Skua |\n", "The crew is small.\n\n") == []
    assert with_header("They sail.", "| Name | Boat |\n|---|---|\n") == "They sail."
