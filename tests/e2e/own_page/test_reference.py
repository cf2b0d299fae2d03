"""The page of the API's reference can be used by everybody: axe finds nothing serious in it."""

import pytest
from playwright.sync_api import Browser, expect

from tests.support.own_page import OwnPage
from tests.support.stack import Stack

pytestmark = pytest.mark.nightly


@pytest.mark.parametrize("width", [1280, 400])
def test_the_reference_is_accessible(browser: Browser, stack: Stack, width: int) -> None:
    opened_page = OwnPage(browser.new_page(), stack.state.api)
    page = opened_page.page
    page.set_viewport_size({"width": width, "height": 800})
    page.goto(f"{stack.state.api}/docs")
    page.locator(".opblock-summary-control", has_text="/query").first.click()
    expect(page.get_by_text("Responses").first).to_be_visible()
    assert opened_page.serious() == []
    assert opened_page.faults == []
    page.close()
