"""What supersedes what is proposed, accepted, stated and told on the page."""

import pytest
from playwright.sync_api import expect

from tests.support.own_page import Visits

pytestmark = pytest.mark.nightly

TEXTS = {
    "rent-v1.md": "The rent of the north shed is ten shillings a month.",
    "rent-v2.md": "The rent of the north shed is twelve shillings a month.",
    "lease.md": "The notice period of a tenant of the sheds is three months.",
    "rules.md": "The notice period of a tenant of the sheds is six weeks.",
}


@pytest.fixture(scope="module")
def succession(visits: Visits) -> str:
    """A workspace with two versions of a price, and two documents that contradict each other."""
    visits.add("succession", TEXTS)
    with visits.to("succession/documents") as opened_page:
        expect(opened_page.page.get_by_role("button", name="Ready 4")).to_be_visible()
    return "succession"


def test_what_names_suggest_is_accepted_and_answers_say_it(succession: str, visits: Visits) -> None:
    with visits.to(f"{succession}/documents") as opened_page:
        page = opened_page.page
        page.get_by_role("link", name="What supersedes what").click()
        row = page.get_by_role("region", name="What supersedes what").get_by_role("listitem")
        expect(row).to_contain_text("the same name but for “v1” and “v2”")
        opened_page.assert_fits()
        page.get_by_role("button", name="Accept: rent-v2.md supersedes rent-v1.md").click()
        expect(row).to_have_count(0)
        page.get_by_role("link", name="Ask").click()
        page.get_by_role("textbox", name="Question").fill("What is the rent of the north shed?")
        page.keyboard.press("Enter")
        note = page.get_by_text("rent-v1.md is superseded by rent-v2.md since")
        expect(note.last).to_be_visible()
        opened_page.assert_fits()


def test_a_document_says_when_it_holds(succession: str, visits: Visits) -> None:
    with visits.to(f"{succession}/documents") as opened_page:
        page = opened_page.page
        page.get_by_role("link", name="lease.md").first.click()
        page.get_by_role("tab", name="Details").click()
        expect(page.get_by_text("It always holds.")).to_be_visible()
        page.get_by_role("button", name="Say when it holds").click()
        page.get_by_label("Until (day)").fill("2030-01-31")
        page.get_by_role("button", name="Save").click()
        expect(page.get_by_text("Until Jan 31, 2030")).to_be_visible()
        opened_page.assert_fits()
        page.get_by_role("button", name="Say when it holds").click()
        page.get_by_role("button", name="Take back").click()
        expect(page.get_by_text("It always holds.")).to_be_visible()
