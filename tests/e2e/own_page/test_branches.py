"""A branch on the page: estimated, made, compared, asked, promoted, rolled back and dropped."""

import pytest
from playwright.sync_api import expect

from tests.support.own_page import Visits

pytestmark = pytest.mark.nightly

LETTER = "Ben Holt offered nine hundred shillings for the gauge. Ada Marlow took them. " * 5


def test_a_branch_is_made_compared_promoted_and_dropped(visits: Visits) -> None:
    visits.add("branched", {"letter.md": LETTER})
    with visits.to("branched/documents") as opened_page:
        expect(opened_page.page.get_by_role("button", name="Ready 1")).to_be_visible()
    with visits.to("branched/operations?tab=golden") as opened_page:
        page = opened_page.page
        page.get_by_role("button", name="Add a question").click()
        dialog = page.get_by_role("dialog")
        dialog.get_by_label("Question").fill("Who offered shillings for the gauge?")
        dialog.get_by_label("What must be found").fill("Ben Holt")
        dialog.get_by_role("button", name="Save").click()
        dialog.get_by_role("button", name="Close").click()
    with visits.to("branched/operations?tab=branches") as opened_page:
        page = opened_page.page
        page.get_by_role("button", name="Make a branch").click()
        page.get_by_label("Name").fill("short")
        page.get_by_label("Tokens of a chunk").fill("20")
        page.get_by_label("Tokens that two chunks share").fill("0")
        page.get_by_label("Reason").fill("on trial")
        expect(page.get_by_role("button", name="Create")).to_be_disabled()
        page.get_by_role("button", name="Estimate").click()
        expect(page.get_by_text("At most, for 1 documents")).to_be_visible()
        opened_page.assert_fits()
        page.get_by_role("button", name="Create").click()
        branch = page.get_by_role("region", name="Branches").locator("li.branch")
        expect(branch).to_contain_text("another chunking")
        expect(branch).to_contain_text("on trial")
        expect(branch).to_contain_text("1 of 1 documents")
        branch.get_by_role("button", name="Compare").click()
        expect(branch).to_contain_text("are the same")
        branch.get_by_role("button", name="Ask the golden questions of both").click()
        branch.get_by_text("Who offered shillings for the gauge?").click()
        expect(branch.get_by_text("passed")).to_have_count(2)
        expect(branch.get_by_text("Ben Holt offered").first).to_be_visible()
        opened_page.assert_fits()
        branch.get_by_role("button", name="Let it answer").click()
        expect(branch).to_contain_text("answers for this workspace")
        branch.get_by_role("button", name="Let the workspace answer itself again").click()
        branch.get_by_role("button", name="Drop").click()
        page.get_by_role("dialog").get_by_role("button", name="Drop").click()
        expect(page.get_by_text("No branches.")).to_be_visible()
