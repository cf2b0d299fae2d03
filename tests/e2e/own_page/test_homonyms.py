"""A name that means two things: the entity is split by documents on the page, and the split is
undone there.
"""

from collections.abc import Generator

import pytest
from playwright.sync_api import Locator, expect

from tests.support.own_page import OwnPage, Visits

pytestmark = pytest.mark.nightly

SKY = "Mercury circles the Sun."
METAL = "Mercury is a heavy metal."
PLANET = "Mercury (planet)"
TEXTS = {
    "sky.md": f"{SKY} Mercury is watched by the Elm Observatory.\n",
    "metal.md": f"{METAL} Mercury is sold by the Holt Company.\n",
}


@pytest.fixture(scope="module")
def opened_page(visits: Visits) -> Generator[OwnPage]:
    """The graph of two documents that mean different things by one name."""
    visits.add("homonyms", TEXTS)
    with visits.to("homonyms/documents") as opened_page:
        expect(opened_page.page.get_by_role("button", name="Ready 2")).to_be_visible()
        opened_page.page.get_by_role("link", name="Graph", exact=True).click()
        yield opened_page


def chosen(opened_page: OwnPage, name: str) -> Locator:
    """The panel of an entity that is searched for."""
    opened_page.page.get_by_role("combobox", name="Find an entity").fill(name)
    opened_page.page.get_by_role("option", name=name, exact=True).click()
    return opened_page.page.get_by_role("complementary", name=name, exact=True)


def test_an_entity_is_split_by_documents(opened_page: OwnPage) -> None:
    panel = chosen(opened_page, "Mercury")
    expect(panel.get_by_text(SKY)).to_be_visible()
    expect(panel.get_by_text(METAL)).to_be_visible()
    panel.get_by_role("button", name="Split").click()
    dialog = opened_page.page.get_by_role("dialog")
    expect(dialog.get_by_role("checkbox")).to_have_count(2)
    assert opened_page.serious() == []
    dialog.get_by_label("Other entity").fill(PLANET)
    expect(dialog.get_by_role("button", name="Split")).to_be_disabled()
    dialog.get_by_text("sky.md").click()
    dialog.get_by_role("button", name="Split").click()
    planet = opened_page.page.get_by_role("complementary", name=PLANET)
    expect(planet.get_by_text(SKY)).to_be_visible()
    expect(planet.get_by_text(METAL)).to_be_hidden()
    assert opened_page.serious() == []


def test_the_split_is_undone_in_the_history(opened_page: OwnPage) -> None:
    planet = opened_page.page.get_by_role("complementary", name=PLANET)
    planet.get_by_text("History").click()
    planet.get_by_role("button", name="Undo").click()
    opened_page.page.get_by_role("dialog").get_by_role("button", name="Undo").click()
    expect(planet).to_be_hidden()
    panel = chosen(opened_page, "Mercury")
    expect(panel.get_by_text(SKY)).to_be_visible()
    expect(panel.get_by_text(METAL)).to_be_visible()
