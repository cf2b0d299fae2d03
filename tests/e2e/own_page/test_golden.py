"""A thumb with a reason below an answer becomes a golden question, which is asked on the page."""

import re
from datetime import UTC, datetime

import pytest
from playwright.sync_api import Page, expect

from tests.support.own_page import Visits

pytestmark = pytest.mark.nightly

TEXTS = {"harbour.md": "# Harbour\n\nAda Marsh leads the Harbour Office in Port Elm.\n"}
QUESTION = "Who leads the Harbour Office?"


@pytest.fixture(scope="module")
def workspace(visits: Visits) -> str:
    """A workspace with one document."""
    visits.add("golden", TEXTS)
    with visits.to("golden/documents") as opened_page:
        expect(opened_page.page.get_by_role("button", name="Ready 1")).to_be_visible()
    return "golden"


def give_thumb(page: Page, label: str, reason: str) -> None:
    page.get_by_role("button", name=label).click()
    dialog = page.get_by_role("dialog")
    dialog.get_by_label("Why?").fill(reason)
    dialog.get_by_role("button", name="Send").click()
    expect(dialog.get_by_text("Thank you. It is noted.")).to_be_visible()


def test_a_thumb_becomes_a_golden_question_whose_runs_are_shown(
    workspace: str, visits: Visits
) -> None:
    with visits.to(f"{workspace}/ask") as opened_page:
        page = opened_page.page
        page.get_by_role("textbox", name="Question").fill(QUESTION)
        page.keyboard.press("Enter")
        expect(page.get_by_role("button", name="This helped")).to_be_visible()
        give_thumb(page, "This helped", "short and right")
        page.get_by_role("button", name="Make it a golden question").click()
        dialog = page.get_by_role("dialog")
        expect(dialog.get_by_label("Documents it must rest on")).to_have_value("harbour.md")
        dialog.get_by_label("What must be found").fill("Ada Marsh\n")
        assert opened_page.serious() == []
        dialog.get_by_role("button", name="Save").click()
        expect(dialog.get_by_text("Saved. The next run asks it.")).to_be_visible()
        dialog.get_by_role("button", name="Close").click()

        page.goto(re.sub(r"#.*", f"#/{workspace}/operations?tab=golden", page.url))
        expect(page.get_by_text("not asked yet")).to_be_visible()
        expect(page.get_by_text("short and right")).to_be_visible()
        for count in (1, 2):
            page.get_by_role("button", name="Ask them all now").click()
            expect(page.get_by_role("status").get_by_text("1 of 1 passed")).to_be_visible()
            rows = page.get_by_role("region", name="Runs").get_by_role("row")
            expect(rows).to_have_count(count + 1)
        expect(page.get_by_role("img", name="the last: 1 of 1 passed")).to_be_visible()
        before = datetime.now(UTC).isoformat()
        visits.add("golden", {"harbour.md": "# Harbour\n\nThe Harbour Office has no head.\n"})
        with visits.to("golden/documents") as documents:
            expect(documents.page.get_by_role("button", name="Ready 1")).to_be_visible()
        page.get_by_role("button", name="Ask them all now").click()
        expect(page.get_by_role("status").get_by_text("0 of 1 passed")).to_be_visible()
        visits.post("golden", "/golden-runs", {"as_of": before})
        page.reload()
        expect(page.get_by_role("img", name="states of the documents")).to_be_visible()
        page.get_by_text("Which failed").first.click()
        expect(page.get_by_role("listitem").get_by_text(QUESTION).first).to_be_visible()
        opened_page.assert_fits()
        page.get_by_role("button", name="Remove").click()
        page.get_by_role("dialog").get_by_role("button", name="Remove").click()
        expect(page.get_by_text("No golden questions")).to_be_visible()
