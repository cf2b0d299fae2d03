"""What names and texts hold is shown and never run, on every page, light and dark; axe finds
nothing serious there.
"""

import re
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from tests.support.own_page import OwnPage, Visits

pytestmark = pytest.mark.nightly

SCRIPT = "<script>window.taken='name'.md"
LONG = "n" * 297 + ".md"
TEXTS = {
    SCRIPT: "# <b>The</b> Harbour Office\n\nAda Marsh leads the Harbour Office. "
    "<img src=x onerror=\"window.taken='picture'\"> Ben Holt keeps its lighthouse.\n",
    LONG: "Clara Voss built the lighthouse of Port Elm in 1898.\n",
}
TABS = ("Projections", "Costs", "Webhooks", "Settings")


@pytest.fixture(scope="module")
def hostile(visits: Visits) -> str:
    """A workspace with documents whose names and texts would be taken for markup."""
    visits.add("hostile", TEXTS)
    return "hostile"


def documents(opened_page: OwnPage, page: Page) -> None:
    expect(page.get_by_role("button", name="Ready 2")).to_be_visible()
    expect(page.get_by_role("link", name=SCRIPT)).to_be_visible()
    expect(page.get_by_role("link", name=LONG)).to_be_visible()
    assert page.evaluate("document.documentElement.scrollWidth") <= 1280
    assert opened_page.serious() == []


def document(opened_page: OwnPage, page: Page) -> None:
    page.get_by_role("link", name=SCRIPT).click()
    expect(page.get_by_role("heading", name=SCRIPT)).to_be_visible()
    expect(page.get_by_text("<img src=x onerror")).to_be_visible()
    for tab in ("Text", "History", "Details"):
        page.get_by_role("tab", name=tab).click()
        assert opened_page.serious() == []


def ask(opened_page: OwnPage, page: Page) -> None:
    page.get_by_role("link", name="Ask", exact=True).click()
    page.get_by_role("textbox", name="Question").fill("Who leads the Harbour Office?")
    page.keyboard.press("Enter")
    page.get_by_role("button", name="Evidence").click()
    expect(page.get_by_text("How it was found")).to_be_visible()
    assert opened_page.serious() == []
    page.get_by_role("button", name=re.compile("^Source 1: ")).first.click()
    expect(page.get_by_role("dialog")).to_be_visible()
    assert opened_page.serious() == []
    page.keyboard.press("Escape")


def graph(opened_page: OwnPage, page: Page) -> None:
    page.get_by_role("link", name="Graph", exact=True).click()
    page.get_by_role("combobox", name="Find an entity").fill("Ada")
    page.get_by_role("option", name="Ada Marsh").click()
    panel = page.get_by_role("complementary", name="Ada Marsh")
    panel.get_by_text("History").click()
    expect(panel.get_by_text(SCRIPT).first).to_be_visible()
    assert opened_page.serious() == []


def log(opened_page: OwnPage, page: Page) -> None:
    page.get_by_role("link", name="Log", exact=True).click()
    expect(page.get_by_role("main").get_by_role("link", name=SCRIPT)).to_be_visible()
    assert opened_page.serious() == []
    page.get_by_role("tab", name="All events").click()
    page.get_by_role("button", name=re.compile("DocumentAdded")).first.click()
    expect(page.locator("pre").get_by_text('"specversion"')).to_be_visible()
    assert opened_page.serious() == []


def operations(opened_page: OwnPage, page: Page) -> None:
    page.get_by_role("link", name="Operations").click()
    expect(page.get_by_role("heading", name=re.compile("is wrong"))).to_be_visible()
    assert opened_page.serious() == []
    for tab in TABS:
        page.get_by_role("tab", name=tab).click()
        expect(page.get_by_role("tabpanel").get_by_text(re.compile(".")).first).to_be_visible()
        assert opened_page.serious() == []


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_markup_is_shown_as_text_on_every_page(hostile: str, visits: Visits, scheme: Any) -> None:
    with visits.to(f"{hostile}/documents", color_scheme=scheme) as opened_page:
        for look in (documents, document, ask, graph, log, operations):
            look(opened_page, opened_page.page)
            assert opened_page.page.evaluate("window.taken") is None
            if look is document:
                opened_page.page.get_by_role("main").get_by_role("link", name="Documents").click()
