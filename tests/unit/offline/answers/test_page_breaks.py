"""What the pages of a printed document repeat is left out."""

import pytest

from offline.answers.page_breaks import without_page_breaks
from offline.answers.quotable_sentences import quotable


@pytest.mark.parametrize(
    "line",
    [
        "sails 252                 2026-01-02                 SAILS(5)",
        "SAILS(5)              Manual of Sails             SAILS(5)",
        "Anne Mast                                        [Page 7]",
        "Page 7 of 31",
        "– 7 –",
        "Seite 7",
        "стр. 7",
        "第 7 页",
    ],
)
def test_lines_at_page_breaks_are_left_out(line: str) -> None:
    text = f"A sail is made of cloth.\n\n{line}\n\nA mast is made of wood."
    assert without_page_breaks(text).split() == text.replace(line, "").split()


def test_rows_of_a_table_that_differ_in_their_numbers_stay() -> None:
    text = "| Year | Boats |\n| ---- | ----- |\n| 2019 | 31    |\n| 2020 | 29    |\n\nThat is all."
    assert without_page_breaks(text) == text


def test_tables_with_the_same_wide_header_keep_it() -> None:
    header = "\n\n| Boat        | Hour |\n| ----------- | ---- |\n"
    text = f"In 2019:{header}| Grey Gull   | 7    |\n\nIn 2020:{header}| Grey Gull   | 9    |\n"
    rows = [part.text for part in quotable(text) if part.is_row]
    assert rows == ["Boat: Grey Gull; Hour: 7", "Boat: Grey Gull; Hour: 9"]


def test_a_header_that_is_repeated_but_for_its_number_is_left_out() -> None:
    page = "Sailing for Beginners              Chapter 3, {}\n\nText of a page.\n\n"
    text = page.format(11) + page.format(12)
    assert without_page_breaks(text).split() == ["Text", "of", "a", "page."] * 2


@pytest.mark.parametrize(
    "text",
    [
        "Article 7\n\nSails are red.\n\nArticle 8\n\nMasts are brown.",
        "| Page 7 | sails |\n\n| Page 8 | masts |",
        "See sail(5) and mast(5) for more.",
        "On page 7 of the book he wrote of sails.",
        "It has 7 sails\n12\nand masts.",
    ],
)
def test_text_and_headings_stay(text: str) -> None:
    assert without_page_breaks(text) == text


def test_a_footer_is_never_quoted() -> None:
    text = "It is red.  It is\n\nsails 252           2026-01-02          SAILS(5)\n\nvery old."
    assert not any("252" in part.text for part in quotable(text))
