"""Lines that head what follows them."""

import pytest

from offline.language.headings import is_provision_number, provision_number
from offline.language.sentences import sentences


def headings(text: str) -> list[str]:
    return [sentence.text for sentence in sentences(text) if sentence.heading]


@pytest.mark.parametrize(
    "line",
    [
        "3. Quiet hours",
        "4) Fees",
        "2.3 Fees for guests",
        "2. WHAT YOU SHOULD KNOW BEFORE YOU TAKE THE BOAT OUT FOR THE FIRST TIME",
        "IV. Haftung",
        "§ 9",
        "§ 12a Kündigung",
        "Article 7.",
        "ARTICLE IX",
        "Artikel 4",
        "Article 5 : Paiement",
        "Статья 9. Возврат",
        "第七条",
        "**Moorings**",
        "**Article 2 – Form of the contest**",
        "**五、退費**",
        "**May I bring guests?**",
        "Plymouth, 3 April 1852",
    ],
)
def test_a_line_between_blank_ones_heads_the_paragraphs_below(line: str) -> None:
    text = f"All of this holds.\n\n{line}\n\nNobody sings after ten. Guests sing till nine."
    assert headings(text) == [line]


@pytest.mark.parametrize(
    "line",
    [
        "**Serves 4 people**",
        "**Never open it while it runs.**",
        "2 carrots",
        "- Moorings",
        "Fee: 3 euros",
        "3. Close the valve.",
    ],
)
def test_items_values_and_sentences_head_nothing(line: str) -> None:
    assert headings(f"All of this holds.\n\n{line}\n\nNobody sings after ten.") == []


def test_numbered_lines_that_stand_apart_are_items_where_others_of_their_kind_follow() -> None:
    assert headings("You need:\n\n1. A rope\n\n2. A knife\n\n3. A torch\n\nThat is all.") == []
    text = "1. General\n\n1.1. Names\n\nIt is called Gull.\n\n2. Rooms\n\n- hall\n- attic\n"
    assert headings(text) == ["1. General", "1.1. Names", "2. Rooms"]


def test_a_number_may_stand_before_a_title_that_is_underlined() -> None:
    text = "1. Plots\n========\n\n1. Dig.\n2. Sow.\n\n- no title\n---\n"
    assert headings(text) == ["1. Plots"]


def test_a_provision_may_have_its_title_in_the_next_line() -> None:
    assert headings("Section 8.\nPayment\n\nIt is due at once.") == ["Section 8.", "Payment"]


def test_a_heading_may_begin_with_the_number_of_a_provision() -> None:
    assert provision_number("§ 12a Kündigung") == "§ 12a"
    assert provision_number("Article 7: Notices") == "Article 7"
    assert provision_number("第七条 附则") == "第七条"
    assert provision_number("Articles of the club") == ""
    assert is_provision_number("Clause 4")
    assert not is_provision_number("Clause 4 Notices")
