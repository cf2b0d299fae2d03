"""A question may be about some documents only, and keys lead to where one searches."""

import pytest
from playwright.sync_api import Page, expect

from tests.support.own_page import Visits

pytestmark = pytest.mark.nightly

TEXTS = {
    "north.md": "Ada Marsh leads the Harbour Office of the north.\n",
    "south.md": "Ben Holt leads the Harbour Office of the south.\n",
}


@pytest.fixture(scope="module")
def two(visits: Visits) -> str:
    """A workspace with two documents that answer the same question."""
    visits.add("two", TEXTS)
    with visits.to("two/documents") as opened_page:
        expect(opened_page.page.get_by_role("button", name="Ready 2")).to_be_visible()
    return "two"


def ask(page: Page) -> str:
    """Ask, and return the answer."""
    page.get_by_role("textbox", name="Question").fill("Who leads the Harbour Office?")
    page.keyboard.press("Enter")
    turn = page.get_by_role("article").last
    expect(turn.get_by_role("button", name="Copy as Markdown")).to_be_visible()
    return turn.locator(".prose").inner_text()


def test_a_question_is_asked_of_chosen_documents_and_days(two: str, visits: Visits) -> None:
    with visits.to(f"{two}/ask") as opened_page:
        page = opened_page.page
        page.get_by_role("button", name="auto").click()
        panel = page.get_by_role("complementary", name="Parameters")
        panel.get_by_role("combobox", name="Choose a document").fill("south")
        page.get_by_role("option", name="south.md").click()
        expect(panel.get_by_role("list", name="Chosen documents")).to_contain_text("south.md")
        opened_page.assert_fits()
        answer = ask(page)
        assert "Ben Holt" in answer
        assert "Ada Marsh" not in answer
        panel.get_by_role("button", name="Do not choose south.md").click()
        panel.get_by_label("Added until").fill("2020-01-01")
        assert "Holt" not in ask(page)
        page.get_by_role("button", name="Ask all documents").click()
        assert "Harbour Office" in ask(page)


def test_a_document_leads_to_questions_about_it(two: str, visits: Visits) -> None:
    with visits.to(f"{two}/documents") as opened_page:
        page = opened_page.page
        page.get_by_role("link", name="north.md").click()
        page.get_by_role("link", name="Ask about it").click()
        answer = ask(page)
        assert "Ada Marsh" in answer
        assert "Ben Holt" not in answer


def test_a_tag_is_given_and_restricts_questions(two: str, visits: Visits) -> None:
    with visits.to(f"{two}/documents") as opened_page:
        page = opened_page.page
        page.get_by_role("link", name="north.md").click()
        page.get_by_role("button", name="Edit tags").click()
        page.get_by_role("textbox", name="Tags").fill("cold, 2026")
        opened_page.assert_fits()
        page.get_by_role("button", name="Save").click()
        expect(page.get_by_role("list", name="Tags")).to_contain_text("cold")
        opened_page.assert_fits()
        page.get_by_role("link", name="cold").click()
        answer = ask(page)
        assert "Ada Marsh" in answer
        assert "Ben Holt" not in answer
        page.get_by_role("link", name="Documents", exact=True).click()
        expect(page.get_by_role("row", name="north.md")).to_contain_text("cold, 2026")


def test_a_conversation_is_found_named_and_taken_up_again(two: str, visits: Visits) -> None:
    with visits.to(f"{two}/ask") as opened_page:
        page = opened_page.page
        ask(page)
        page.get_by_role("button", name="New conversation").click()
        expect(page.get_by_role("article")).to_have_count(0)
        page.reload()
        page.get_by_role("button", name="Conversations").click()
        dialog = page.get_by_role("dialog", name="Conversations")
        opened_page.assert_fits()
        dialog.get_by_role("button", name="Rename: Who leads").first.click()
        dialog.get_by_role("textbox", name="Name").fill("Offices")
        dialog.get_by_role("button", name="Save the name").click()
        with visits.to(f"{two}/ask") as elsewhere:  # another browser of the same account
            elsewhere.page.get_by_role("button", name="Conversations").click()
            expect(elsewhere.page.get_by_role("dialog")).to_contain_text("Offices")
        dialog.get_by_role("textbox", name="Find a conversation").fill("harbour")
        dialog.get_by_role("button", name="Offices 1 question").click()
        page.get_by_role("button", name="Ask this again").click()
        answer = page.get_by_role("article").last.locator(".prose")
        expect(answer).to_contain_text("Harbour Office")
        page.get_by_role("button", name="Conversations").click()
        dialog.get_by_role("button", name="Forget: Offices").click()
        expect(dialog).not_to_contain_text("Offices")


def test_keys_lead_to_the_search_of_a_page(two: str, visits: Visits) -> None:
    with visits.to(f"{two}/documents") as opened_page:
        page = opened_page.page
        find = page.get_by_role("searchbox", name="Find a document by its name")
        expect(page.get_by_role("link", name="north.md")).to_be_visible()
        page.keyboard.press("/")
        expect(find).to_be_focused()
        page.keyboard.type("a/b")
        expect(find).to_have_value("a/b")
        page.get_by_role("link", name="Ask", exact=True).click()
        question = page.get_by_role("textbox", name="Question")
        expect(question).to_be_visible()
        page.keyboard.press("Control+k")
        expect(question).to_be_focused()
        page.get_by_role("link", name="Operations").click()
        expect(page.get_by_role("heading", name="Operations")).to_be_attached()
        page.keyboard.press("Control+k")
        expect(find).to_be_focused()
