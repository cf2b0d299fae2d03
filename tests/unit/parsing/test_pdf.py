"""What stands in a PDF beside plain lines: fields of forms, notes, fonts without letters, columns,
scanned pages.
"""

import pytest

from runtime.errors import InvalidInput
from runtime.parsing import pdf, recognition
from tests.support import pdf_files


def test_filled_fields_ticked_boxes_and_notes_are_read() -> None:
    lines = pdf.text(pdf_files.form()).text.split("\n")
    assert "Name of the owner: Bruno Keel" in lines
    assert "insured: Yes" in lines
    assert "Note: Approved by Ada Marlow" in lines
    assert "Comment: Tooł" in lines
    assert not any("empty" in line or "a link" in line for line in lines)


def test_a_font_that_does_not_say_its_letters_is_refused_and_not_indexed(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(recognition, "is_installed", lambda: False)
    with pytest.raises(
        InvalidInput, match=r"do not say which letters they draw: install lightstream-rag\[ocr\]"
    ):
        pdf.text(pdf_files.without_letters("Vjg jctdqwt qhhkeg mggru vjg tgikuvgt qh Cfc Octuj"))


def test_a_font_whose_codes_are_letters_all_the_same_is_read() -> None:
    text = "The harbour office keeps the register of ships and is open in the week"
    assert pdf.text(pdf_files.without_letters(text)).text == text


LEFT = [f"left {number} tells of the harbour and its men" for number in range(8)]
RIGHT = [f"right {number} tells of the lighthouse there" for number in range(8)]


def test_columns_that_were_drawn_row_by_row_are_read_one_after_the_other() -> None:
    title = "A title over both of the columns of this page, which is a long one"
    assert pdf.text(pdf_files.columns(LEFT, RIGHT, title)).text.split("\n") == [
        title,
        *LEFT,
        *RIGHT,
    ]


def test_rows_of_a_table_stay_together() -> None:
    names = [f"ship {number}" for number in range(8)]
    prices = [f"{number} crowns" for number in range(8)]
    lines = pdf.text(pdf_files.columns(names, prices)).text.split("\n")
    assert [line.split() for line in lines] == [
        [*name.split(), *price.split()] for name, price in zip(names, prices, strict=True)
    ]


def test_pages_without_a_text_layer_are_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(recognition, "is_installed", lambda: False)
    [warning] = pdf.text(pdf_files.pdf("one", "", "three", "", "")).warnings
    assert warning.startswith("pages 2, 4 and 5 have no text layer (scanned?) and were left out: ")
    assert "install lightstream-rag[ocr]" in warning
    [warning] = pdf.text(pdf_files.pdf("one", "")).warnings
    assert warning.startswith("page 2 has no text layer (scanned?) and was left out: ")
