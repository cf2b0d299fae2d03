"""An answer leads to its receipt, and what it rests on to the answers that must be told again."""

import pytest
from playwright.sync_api import expect

from tests.support.own_page import Visits

pytestmark = pytest.mark.nightly

NAME = "harbour.md"
QUESTION = "Who leads the Harbour Office?"


def test_an_answer_has_a_receipt_and_is_marked_once_its_document_says_something_else(
    visits: Visits,
) -> None:
    visits.add("receipts", {NAME: "# Harbour\n\nAda Marsh leads the Harbour Office.\n"})
    with visits.to("receipts/documents") as opened_page:
        expect(opened_page.page.get_by_role("button", name="Ready 1")).to_be_visible()
    with visits.to("receipts/ask") as opened_page:
        page = opened_page.page
        page.get_by_role("textbox", name="Question").fill(QUESTION)
        page.keyboard.press("Enter")
        page.get_by_role("link", name="Receipt").click()
        expect(page.get_by_role("region", name="Question")).to_contain_text(QUESTION)
        expect(page.get_by_role("region", name="Answer")).to_contain_text("Ada Marsh")
        page.get_by_role("button", name="Verify").click()
        expect(page.get_by_text("Texts and hashes agree.")).to_be_visible()
        page.get_by_role("button", name="Ask it once more").click()
        replay_notice = page.get_by_role("status").filter(has_text="Asked once more")
        expect(replay_notice).to_contain_text("On what it rests: the same")
        expect(replay_notice).to_contain_text("Answer: the same")
        opened_page.assert_fits()

        visits.add("receipts", {NAME: "# Harbour\n\nClara Voss leads the Harbour Office now.\n"})
        page.get_by_role("link", name=NAME).click()
        expect(page.get_by_text("Clara Voss leads")).to_be_visible()
        page.get_by_role("tab", name="Answers").click()
        answers = page.get_by_role("list", name="Answers given")
        expect(answers.get_by_text("changed since: 1 of 1 passages").first).to_be_visible()
        opened_page.assert_fits()
        page.get_by_role("tab", name="Text").click()
        page.get_by_role("link", name="Answers that rested on it").click()
        expect(page.get_by_text("that rested on the passage")).to_be_visible()
        page.get_by_role("link", name=QUESTION).first.click()
        expect(page.get_by_role("region", name="Answer")).to_contain_text("Ada Marsh")
