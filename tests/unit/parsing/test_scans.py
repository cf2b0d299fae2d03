"""Pages that are pictures: they are recognized one by one, with limits, and each loses only
itself.
"""

import pytest
from PIL import Image
from rapidfuzz.distance import Levenshtein

from runtime.errors import InvalidInput
from runtime.parsing import kinds, pdf, picture, recognition
from runtime.parsing.files import parse
from runtime.parsing.pdf_columns import Line
from runtime.parsing.reading_order import in_reading_order
from runtime.parsing.recognition import RecognitionLimits
from runtime.parsing.routing import OWN_PARSERS, ParsingServices
from runtime.parsing.settings import ParserSettings
from tests.support.scans import file_of, prose, scan, scanned_pdf


def limited(pages: int = 200, seconds: float = 300.0) -> ParsingServices:
    return ParsingServices(recognition=RecognitionLimits(pages, seconds))


def share_of_errors(text: str, lines: list[str]) -> float:
    expected = " ".join(lines)
    return Levenshtein.distance(" ".join(text.split()), expected) / len(expected)


async def test_only_the_scanned_page_of_a_pdf_is_recognized_and_keeps_its_number() -> None:
    lines = prose(9)
    pages: list[tuple[int, int]] = []
    result = await parse(
        scanned_pdf("Ada Lovelace keeps the register.", scan(lines)),
        "scan.pdf",
        on_page=lambda number, count: pages.append((number, count)),
    )
    first_page, second_page, third_page = result.pages
    assert result.text[:second_page].strip() == "Ada Lovelace keeps the register."
    assert second_page == third_page, "the blank page has no text, and no warning"
    assert share_of_errors(result.text[third_page:], lines) < 0.02
    assert (first_page, pages, result.warnings) == (0, [(0, 1), (1, 1)], ())
    assert result.metadata["recognized_pages"] == 1
    assert result.metadata["recognition_confidence"] >= 0.9


async def test_a_page_that_lies_on_its_head_is_turned_and_one_too_large_loses_only_itself() -> None:
    lines = prose(4)
    too_large = Image.new("1", (8000, picture.MAX_PIXELS // 8000 + 1), 1)
    upside_down = scan(lines, 180, (1240, 330))
    result = await parse(file_of(upside_down, too_large, kind="TIFF"), "fax.tiff")
    assert share_of_errors(result.text, lines) < 0.02
    assert result.pages == (0, len(result.text))
    assert result.warnings == (
        "page 2 was left out: has 60 million pixels, at most 60 are read: save it smaller",
    )


async def test_a_file_of_which_no_page_can_be_read_is_refused_with_the_reason() -> None:
    with pytest.raises(InvalidInput, match=r"a\.png: has no text: takes more than 0 s \(OCR_PAGE"):
        await parse(file_of(scan(["Ada"])), "a.png", services=limited(seconds=0.01))
    with pytest.raises(InvalidInput, match=r"a\.webp: damaged, or no PNG, JPEG, TIFF or WebP: "):
        await parse(b"no picture", "a.webp")


async def test_a_file_with_more_pages_than_the_limit_is_refused() -> None:
    data = file_of(*[Image.new("L", (90, 90), shade) for shade in (1, 2, 3)], kind="TIFF")
    with pytest.raises(
        InvalidInput, match=r"has 3 pages to be recognized, at most 2 are \(OCR_MAX"
    ):
        await parse(data, "a.tif", services=limited(pages=2))


async def test_a_limit_of_no_page_turns_recognition_off() -> None:
    settings = ParserSettings(ocr_max_pages=0)
    services = settings.parsing_services()
    with pytest.raises(InvalidInput, match="a picture, and OCR_MAX_PAGES is 0: raise it"):
        await parse(file_of(scan(["Ada"])), "a.png", services=services)
    result = await parse(scanned_pdf("Ada", scan(["Bob"])), "a.pdf", services=services)
    assert result.text == "Ada"
    assert "pages 2 and 3 have no text layer" in result.warnings[0]


def test_without_the_extra_pictures_and_scans_are_refused_with_its_name(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for module in (kinds, recognition):
        monkeypatch.setattr(module, "is_installed", lambda: False)
    with pytest.raises(InvalidInput, match=r"\.png are not read: install lightstream-rag\[ocr\]"):
        kinds.refuse_kind(".PNG")
    with pytest.raises(InvalidInput, match=r"no text layer .*: install lightstream-rag\[ocr\]"):
        pdf.text(scanned_pdf("", scan(["Ada"])))
    assert ".png" not in kinds.readable_kinds()
    assert not recognition.USUAL_LIMITS.allows_any
    assert ParsingServices(plugins=frozenset({"png"})).engine("a.png") == "plugin"


def test_with_the_extra_our_own_recognition_reads_pictures_unless_a_rule_says_otherwise() -> None:
    assert ParsingServices(plugins=frozenset({"png"})).engine("a.png") == "native"
    assert OWN_PARSERS.engine("a.png") == "native"


def line(left_edge: float, top: float, text: str, width: float = 300) -> Line:
    return Line(left_edge, -top - 20, left_edge + width, -top, text)


def test_what_stands_in_a_row_stays_together_and_paragraphs_apart() -> None:
    lines = [
        line(400, 0, "12 crowns"),
        line(0, 2, "Blue Heron"),
        line(0, 30, "Grey Gull"),
        line(400, 31, "9 crowns"),
        line(0, 90, "Paid in May."),
    ]
    assert in_reading_order(lines, 800) == (
        "Blue Heron 12 crowns\nGrey Gull 9 crowns\n\nPaid in May."
    )
    assert in_reading_order([], 800) == ""


def test_columns_are_read_one_after_the_other() -> None:
    left = [f"left {number} tells of the harbour and its men" for number in range(8)]
    right = [f"right {number} tells of the lighthouse there" for number in range(8)]
    rows = zip(left, right, strict=True)
    lines = [
        line(side * 420, 30 * row, words, 360)
        for row, pair in enumerate(rows)
        for side, words in enumerate(pair)
    ]
    assert in_reading_order(lines, 800) == "\n".join([*left, *right])
