"""A citation shows the page of the PDF on which it stands, with its sentence marked."""

import io

import pytest
from PIL import Image
from playwright.sync_api import Locator, expect

from tests.support.own_page import Visits
from tests.support.pdf_files import drawn_pages, line

COLORS = ((200, 30, 30), (30, 160, 30), (30, 30, 200), (160, 30, 160))
"""Of the bar above the text of each page: what a reader of pictures can tell a page by."""
MARK = (255, 226, 92)
SENTENCES = (
    "Ada Marsh leads the Harbour Office.",
    "Ben Holt keeps the old lighthouse.",
    "Clara Voss built the long pier in 1898.",
    "Dora Quill paints the buoys every spring.",
)
PAGES = [
    f"{red / 255:.3f} {green / 255:.3f} {blue / 255:.3f} rg 72 760 400 60 re f 0 g "
    + line(72, 700, f"Notes of the harbour, part {number}.")
    + line(72, 680, sentence)
    for number, ((red, green, blue), sentence) in enumerate(zip(COLORS, SENTENCES, strict=True), 1)
]


@pytest.fixture(scope="module")
def pages(visits: Visits) -> str:
    """A workspace with a PDF of four pages, which is kept."""
    visits.upload("pages", "harbour.pdf", drawn_pages(*PAGES))
    with visits.to("pages/documents") as opened_page:
        expect(opened_page.page.get_by_role("button", name="Ready 1")).to_be_visible()
    return "pages"


def page_shown(picture: Locator) -> tuple[int, bool]:
    """Return which page is seen on the screen, from 1, and whether something on it is marked."""
    expect(picture).to_be_visible()
    image = Image.open(io.BytesIO(picture.screenshot())).convert("RGB")
    counts = [points_of(image, color) for color in COLORS]
    assert max(counts) > 0
    return counts.index(max(counts)) + 1, points_of(image, MARK) > 0


def points_of(image: Image.Image, color: tuple[int, int, int]) -> int:
    """Return how many points have nearly this colour."""
    return sum(
        all(abs(one - other) < 25 for one, other in zip(point, color, strict=True))
        for point in image.resize((200, 280), Image.Resampling.NEAREST).get_flattened_data()
    )


@pytest.mark.parametrize(
    ("question", "number"),
    [("Who built the long pier?", 3), ("Who keeps the old lighthouse?", 2)],
)
def test_a_citation_leads_to_its_sentence_on_its_page(
    pages: str, visits: Visits, question: str, number: int
) -> None:
    with visits.to(f"{pages}/ask") as opened_page:
        page = opened_page.page
        page.get_by_role("textbox", name="Question").fill(question)
        page.keyboard.press("Enter")
        page.get_by_role("button", name="Source 1: harbour.pdf").first.click()
        page.get_by_role("dialog").get_by_role("button", name="Original page").first.click()
        picture = page.get_by_role("img", name=f"Page {number} of 4")
        assert page_shown(picture) == (number, True)
        opened_page.assert_fits()
        page.get_by_role("button", name="The next page").click()
        assert page_shown(page.get_by_role("img", name=f"Page {number + 1} of 4")) == (
            number + 1,
            False,
        )
        with page.expect_download() as download:
            page.get_by_role("button", name="Download the file").click()
        assert download.value.suggested_filename == "harbour.pdf"


def test_a_passage_of_a_document_leads_to_the_page_it_begins_on(pages: str, visits: Visits) -> None:
    with visits.to(f"{pages}/documents") as opened_page:
        page = opened_page.page
        page.get_by_role("link", name="harbour.pdf").click()
        page.locator(".chunk").first.get_by_role("button", name="Original page").click()
        assert page_shown(page.get_by_role("img", name="Page 1 of 4")) == (1, False)
