"""Who may see a document is shown, changed and explained on the page."""

import pytest
from playwright.sync_api import expect

from tests.support.own_page import Visits

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
