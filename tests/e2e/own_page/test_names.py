"""Names that may mean the same entity are merged, kept apart and undone on the page."""

import re
from typing import Any

import httpx
import pytest
from playwright.sync_api import Page, expect

from tests.support.own_page import WRITER, Visits
from tests.support.stack import Stack

pytestmark = pytest.mark.nightly

ENTITIES = {
    "Port Élm": "location",
    "Port Elm": "location",
    "Prime Number": "concept",
    "The Prime Numbers": "concept",
    "PRIME NUMBER": "concept",
    "Heron": "vessel",
    "Old Heron": "vessel",
    "Tide Gauge": "instrument",
    "The Gauge": "instrument",
    "Gauge of the Port": "instrument",
}


def created(api: str, workspace: str) -> None:
    """Add the entities, over HTTP."""
    headers = {"X-API-Key": WRITER, "X-Workspace": workspace}
    for name, kind in ENTITIES.items():
        data: dict[str, Any] = {"entity_type": kind, "description": f"What is said of {name}."}
        body = {"entity_name": name, "entity_data": data}
        httpx.post(
            f"{api}/graph/entity/create", json=body, headers=headers, timeout=60
        ).raise_for_status()


@pytest.fixture(scope="module")
def named(stack: Stack) -> str:
    """A workspace with entities whose names are nearly the same."""
    created(stack.state.api, "named")
    return "named"


def proposal(page: Page, name: str) -> Any:
    return (
        page.get_by_role("region", name="Proposals").get_by_role("listitem").filter(has_text=name)
    )


def test_proposals_are_merged_kept_apart_and_undone(named: str, visits: Visits) -> None:
    with visits.to(f"{named}/graph") as opened_page:
        page = opened_page.page
        page.get_by_role("link", name="Names", exact=True).click()
        expect(proposal(page, "Port Élm")).to_contain_text("another spelling")
        opened_page.assert_fits()
        proposal(page, "Port Élm").get_by_role("button", name="Keep").click()
        decided = page.get_by_role("region", name="Decided").get_by_role("listitem")
        expect(decided.filter(has_text="Port Élm")).to_contain_text("is not")
        expect(proposal(page, "Port Élm")).to_be_hidden()
        decided.filter(has_text="Port Élm").get_by_role("button", name="Undo").click()
        proposal(page, "Port Élm").get_by_role("button", name="Merge").click()
        expect(decided.filter(has_text="Port Élm")).to_be_visible()
        expect(decided.filter(has_text="is not")).to_have_count(0)
        opened_page.assert_fits()


def test_all_that_differ_by_their_form_alone_are_merged_at_once(named: str, visits: Visits) -> None:
    with visits.to(f"{named}/graph/names") as opened_page:
        page = opened_page.page
        page.get_by_role("button", name="All proposals").click()
        page.get_by_role("option", name="differs by case").click()
        page.get_by_role("button", name="Merge all 2").click()
        decided = page.get_by_role("region", name="Decided").get_by_role("listitem")
        expect(decided.filter(has_text="The Prime Numbers")).to_be_visible()
        expect(decided.filter(has_text=re.compile("^PRIME NUMBER"))).to_be_visible()
        expect(page.get_by_role("heading", name="No two names look like one")).to_be_visible()


def test_an_entity_is_merged_into_one_that_is_looked_for(named: str, visits: Visits) -> None:
    with visits.to(f"{named}/graph?entity=Old%20Heron") as opened_page:
        page = opened_page.page
        panel = page.get_by_role("complementary", name="Old Heron")
        panel.get_by_role("button", name="Merge with another").click()
        dialog = page.get_by_role("dialog", name="Merge Old Heron into another entity")
        dialog.get_by_role("combobox").fill("Heron")
        page.get_by_role("option", name="Heron", exact=True).click()
        expect(dialog.get_by_text("What is said of Old Heron.")).to_be_visible()
        assert opened_page.serious() == []
        dialog.get_by_role("button", name="Merge the two").click()
        expect(page.get_by_role("complementary", name="Heron", exact=True)).to_be_visible()
        page.get_by_role("link", name="Log", exact=True).click()
        expect(page.get_by_text("Merged Old Heron into Heron")).to_be_visible()


def test_several_of_the_list_are_merged_and_the_kinds_there_are_offered(
    named: str, visits: Visits
) -> None:
    with visits.to(f"{named}/graph") as opened_page:
        page = opened_page.page
        page.get_by_role("button", name="As a list").click()
        for name in ("Tide Gauge", "The Gauge", "Gauge of the Port"):
            page.get_by_role("checkbox", name=f"Select {name}").click(force=True)
        opened_page.assert_fits()
        page.get_by_role("button", name="Merge 3 entities").click()
        dialog = page.get_by_role("dialog")
        dialog.get_by_role("button", name="The entity that it is").click()
        page.get_by_role("option", name="Tide Gauge").click()
        dialog.get_by_role("button", name="Merge 3 entities").click()
        panel = page.get_by_role("complementary", name="Tide Gauge")
        panel.get_by_role("button", name="Edit").click()
        kinds = page.get_by_role("dialog").locator("datalist option")
        assert "vessel" in [kind.get_attribute("value") for kind in kinds.all()]
        page.keyboard.press("Escape")
        page.get_by_role("link", name="Names", exact=True).click()
        decided = page.get_by_role("region", name="Decided").get_by_role("listitem")
        for name in ("The Gauge", "Gauge of the Port"):
            expect(decided.filter(has_text=f"{name} is Tide Gauge")).to_be_visible()
