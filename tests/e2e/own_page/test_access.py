"""Who may see a document is shown, changed and explained on the page; branches are listed there."""

import pytest
from playwright.sync_api import expect

from tests.support.own_page import Visits
from tests.support.stack import Stack

pytestmark = pytest.mark.nightly


def test_a_document_is_hidden_explained_and_shown_again(visits: Visits) -> None:
    visits.add("access", {"letter.md": "Ben Holt offered nine hundred shillings for the gauge."})
    with visits.to("access/documents") as opened_page:
        page = opened_page.page
        page.get_by_role("link", name="letter.md").first.click()
        page.get_by_role("tab", name="Details").click()
        expect(page.get_by_text("Everyone of the workspace")).to_be_visible()
        page.get_by_role("button", name="Say who may see it").click()
        page.get_by_label("Allow").fill("group:council user:ann")
        page.get_by_label("Deny").fill("user:bo")
        page.get_by_role("button", name="Save").click()
        expect(page.get_by_text("group:council, user:ann")).to_be_visible()
        opened_page.assert_fits()
        page.get_by_role("button", name="Say who may see it").click()
        who = page.get_by_role("form", name="Does somebody see it?").get_by_role("textbox")
        who.fill("group:press")
        who.press("Enter")
        expect(page.get_by_text("Does not see it:")).to_be_visible()
        who.fill("group:council")
        who.press("Enter")
        expect(page.get_by_text("Sees it:", exact=False).last).to_contain_text("council")
        opened_page.assert_fits()
        page.get_by_role("button", name="Let everyone see it").click()
        expect(page.get_by_text("Everyone of the workspace")).to_be_visible()


def test_branches_are_listed_with_what_is_other_in_them(visits: Visits, stack: Stack) -> None:
    visits.add("branched", {"letter.md": "Ben Holt offered nine hundred shillings for the gauge."})
    with visits.to("branched/documents") as opened_page:
        expect(opened_page.page.get_by_role("button", name="Ready 1")).to_be_visible()
    create = ("branch", "create", "short", "--chunk-size", "20", "--yes", "--reason", "on trial")
    assert stack.run(*create, "--workspace", "branched").returncode == 0
    with visits.to("branched/operations?tab=branches") as opened_page:
        page = opened_page.page
        row = page.get_by_role("region", name="Branches").get_by_role("listitem")
        expect(row).to_contain_text("another chunking")
        expect(row).to_contain_text("on trial")
        opened_page.assert_fits()
        row.get_by_role("link", name="short").click()
        expect(page.get_by_role("link", name="letter.md")).to_be_visible()
