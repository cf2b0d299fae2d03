"""Ruled tables of PDF files are tables in the text, where they stand on the page."""

from runtime.parsing import pdf
from runtime.parsing.pdf_rules import MAX_SEGMENTS
from tests.support.pdf_files import drawn_pages, line, ruled

SHIPS = [["Ship", "Berth", "Fee"], ["Osprey", "4", "12.50"], ["Heron", "9", "8.00"]]
TABLE = "| Ship | Berth | Fee |\n| --- | --- | --- |\n| Osprey | 4 | 12.50 |\n| Heron | 9 | 8.00 |"


def test_a_ruled_table_stands_between_the_lines_around_it() -> None:
    page = line(60, 760, "Ships of the harbour") + ruled(SHIPS) + line(60, 600, "Seen in May")
    assert pdf.text(drawn_pages(page)).text == f"Ships of the harbour\n\n{TABLE}\n\nSeen in May"


def test_names_over_several_columns_are_joined_with_those_below() -> None:
    rows = [["Port", "2024", "<"], ["", "Spring", "Autumn"], ["Elm", "3", "7"], ["Ash", "4", "9"]]
    table = "| Port | 2024 Spring | 2024 Autumn |\n| --- | --- | --- |\n"
    text = pdf.text(drawn_pages(ruled(rows))).text
    assert text == f"{table}| Elm | 3 | 7 |\n| Ash | 4 | 9 |"


def test_a_table_that_goes_on_has_its_header_on_the_next_page() -> None:
    more = [[f"ship {number}", f"{number}", f"{number}.00"] for number in range(30)]
    first = line(60, 780, "Ships") + ruled([SHIPS[0], *more])
    second_page = line(60, 780, "page 2") + ruled([["Late", "77", "1.00"]] * 2) + line(60, 40, "2")
    text = pdf.text(drawn_pages(first, second_page)).text
    assert text.endswith(f"{TABLE[:42]}\n| Late | 77 | 1.00 |\n| Late | 77 | 1.00 |\n\n2")
    blocks = [block for block in text.split("\n\n") if block.startswith("|")]
    assert len(blocks) > 2
    assert {block[:42] for block in blocks} == {TABLE[:42]}
    # Another table is no continuation.
    other = ruled([["Name", "Age"], ["Ada", "30"]])
    assert "Ship" not in pdf.text(drawn_pages(first, other)).text.split("| Name")[1]


def test_frames_charts_and_tables_beside_text_stay_lines_of_text() -> None:
    frame = "50 500 400 200 re S 60 690 m 440 690 l S\n" + line(70, 600, "A framed notice")
    chart = "".join(f"{60 + 50 * x} 100 m {60 + 50 * x} 400 l S\n" for x in range(6))
    chart += "".join(f"60 {100 + 50 * y} m 310 {100 + 50 * y} l S\n" for y in range(7))
    beside = ruled(SHIPS) + line(400, 690, "text in another column")
    for page in (frame, chart + line(70, 110, "0"), beside):
        assert "|" not in pdf.text(drawn_pages(page)).text


def test_a_drawing_of_very_many_lines_is_not_searched() -> None:
    page = ruled(SHIPS) + "60 700 m 330 700 l S\n" * (MAX_SEGMENTS // 2)
    assert pdf.text(drawn_pages(page)).text.splitlines()[0].split() == ["Ship", "Berth", "Fee"]
