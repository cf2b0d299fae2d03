"""The graph in time: an edit is undone, and the slider shows what was, and what has changed
since.
"""

import re
from collections.abc import Generator

import pytest
from playwright.sync_api import Locator, expect

from tests.support.own_page import OwnPage, Visits

pytestmark = pytest.mark.nightly

EDITED = "She counts the ships."


@pytest.fixture(scope="module")
def opened_page(visits: Visits) -> Generator[OwnPage]:
    """The graph of one document."""
    visits.add(
        "past",
        {
            "office.md": (
                "Ada Marsh leads the Harbour Office. Ben Holt works for the Harbour Office.\n"
            )
        },
    )
    with visits.to("past/documents") as opened_page:
        expect(opened_page.page.get_by_role("button", name="Ready 1")).to_be_visible()
        opened_page.page.get_by_role("link", name="Graph", exact=True).click()
        yield opened_page


@pytest.fixture
def panel(opened_page: OwnPage) -> Locator:
    """What is said of Ada Marsh."""
    opened_page.page.get_by_role("combobox", name="Find an entity").fill("Ada M")
    opened_page.page.get_by_role("option", name="Ada Marsh").click()
    return opened_page.page.get_by_role("complementary", name="Ada Marsh")


def test_an_edit_of_an_entity_is_undone(opened_page: OwnPage, panel: Locator) -> None:
    page, said = opened_page.page, panel.locator("> p")
    panel.get_by_role("button", name="Edit").click()
    page.get_by_role("dialog").get_by_label("Description").fill(EDITED)
    page.get_by_role("dialog").get_by_role("button", name="Save").click()
    expect(said.get_by_text(EDITED)).to_be_visible()
    panel.get_by_text("History").click()
    panel.get_by_role("button", name="Undo").click()
    page.get_by_role("dialog").get_by_role("button", name="Undo").click()
    expect(said.get_by_text("Ada Marsh leads the Harbour Office.")).to_be_visible()
    expect(said.get_by_text(EDITED)).to_be_hidden()
    assert opened_page.serious() == []


def test_the_slider_shows_the_graph_as_it_was_and_what_changed(opened_page: OwnPage) -> None:
    page = opened_page.page
    now = page.get_by_role("status").filter(has_text=re.compile("^[1-9][0-9]* entit"))
    expect(now).to_be_visible()
    page.get_by_role("slider").last.focus()
    page.keyboard.press("Home")
    expect(page.get_by_text(re.compile("as of #1( |$)"))).to_be_visible()
    expect(page.get_by_text("0 entities, 0 relations")).to_be_visible()
    assert opened_page.serious() == []
    since = page.get_by_role("button", name="What has changed since")
    since.click()
    expect(page.get_by_role("status").filter(has_text=re.compile("New [1-9]"))).to_be_visible()
    assert opened_page.serious() == []
    since.click()
    expect(page.get_by_text("0 entities, 0 relations")).to_be_visible()
    page.get_by_role("slider").last.focus()
    page.keyboard.press("End")
    expect(page.get_by_text("now", exact=True)).to_be_visible()
    expect(now).to_be_visible()
