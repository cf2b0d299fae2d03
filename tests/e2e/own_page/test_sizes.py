"""The page over more than anybody can look at: a list of 10,000 documents, an entity of 2,000
relations.
"""

import asyncio
import re
from collections.abc import Generator

import pytest
from playwright.sync_api import expect

from tests.support.large_workspaces import (
    FAILED_EACH,
    drop_documents,
    drop_hub,
    put_documents,
    put_hub,
)
from tests.support.own_page import Visits, aside
from tests.support.stack import Stack

pytestmark = pytest.mark.nightly

MANY = 10_000
SPOKES = 2_000
HUB = "Port Elm"


@pytest.fixture(scope="module")
def many(stack: Stack) -> Generator[str]:
    """A workspace of many documents."""
    aside(lambda: asyncio.run(put_documents(stack.settings, "many", MANY)))
    yield "many"
    aside(lambda: asyncio.run(drop_documents(stack.settings, "many")))


@pytest.fixture(scope="module")
def hub(stack: Stack) -> Generator[str]:
    """A workspace with one entity to which all others are related."""
    aside(lambda: asyncio.run(put_hub(stack.settings, "hub", HUB, SPOKES)))
    yield "hub"
    aside(lambda: asyncio.run(drop_hub(stack.settings, "hub")))


def test_ten_thousand_documents_are_scrolled_sorted_and_filtered(many: str, visits: Visits) -> None:
    with visits.to(f"{many}/documents?sort=file_path&order=asc") as opened_page:
        page = opened_page.page
        table = page.get_by_role("table")
        rows = table.get_by_role("link")
        expect(table).to_have_attribute("aria-rowcount", f"{MANY + 1}")
        expect(rows.first).to_have_text("document-00000.md")
        assert opened_page.serious() == []
        page.evaluate("window.scrollTo(0, document.documentElement.scrollHeight)")
        expect(rows.last).to_have_text(f"document-{MANY - 1:05d}.md")
        assert rows.count() < 100
        page.get_by_role("button", name="Name", exact=True).click()
        expect(rows.first).to_have_text(f"document-{MANY - 1:05d}.md")
        page.get_by_role("button", name=f"Failed {MANY // FAILED_EACH}", exact=True).click()
        expect(table).to_have_attribute("aria-rowcount", f"{MANY // FAILED_EACH + 1}")
        expect(page.get_by_text("the model answered with nothing").first).to_be_visible()
        assert opened_page.serious() == []


def test_a_hub_of_thousands_of_relations_is_looked_at_in_parts(hub: str, visits: Visits) -> None:
    with visits.to(f"{hub}/graph") as opened_page:
        page = opened_page.page
        size = page.get_by_role("status").filter(has_text=re.compile("entities"))
        expect(size).to_have_text(re.compile(r"^300 entities, 299 relations · there are more"))
        page.get_by_role("combobox", name="Find an entity").fill("Port")
        page.get_by_role("option", name=HUB).click()
        panel = page.get_by_role("complementary", name=HUB)
        expect(panel.get_by_text("Ships from everywhere call here.")).to_be_visible()
        expect(panel.locator(".relations > li")).to_have_count(100)
        expect(panel.get_by_text(re.compile(r"and \d+ more, which weigh less"))).to_be_visible()
        panel.get_by_role("button", name="Expand").click()
        expect(size).to_have_text(re.compile("there are more"))
        page.get_by_role("button", name="As a list").click()
        expect(
            page.get_by_role("list", name="As a list").get_by_role("button").first
        ).to_contain_text(HUB)
        assert opened_page.serious() == []
