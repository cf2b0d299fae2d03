"""What people did is a list in words by day, and what they deleted a bin; both are undone there."""

import httpx
import pytest
from playwright.sync_api import expect

from tests.support.own_page import WRITER, Visits
from tests.support.stack import Stack

pytestmark = pytest.mark.nightly

TEXTS = {
    "harbour.md": "Ada Marsh leads the Harbour Office. Ben Holt keeps its lighthouse.\n",
    "ferry.md": "Elin Brook leads the Ferry Office.\n",
    "heron.md": "Dora Lind is the captain of the Heron.\n",
}


QUAY = {"entity_type": "person", "description": "The oldest quay of the town."}


@pytest.fixture(scope="module")
def changed(visits: Visits, stack: Stack) -> str:
    """A workspace with three documents and an entity that is of another kind since."""
    visits.add("changed", TEXTS)
    with visits.to("changed/documents") as opened_page:
        expect(opened_page.page.get_by_role("button", name="Ready 3")).to_be_visible()
    headers = {"X-API-Key": WRITER, "X-Workspace": "changed"}
    for route, body in (
        ("create", {"entity_name": "Old Quay", "entity_data": QUAY}),
        ("edit", {"entity_name": "Old Quay", "updated_data": {"entity_type": "location"}}),
    ):
        httpx.post(
            f"{stack.state.api}/graph/entity/{route}", json=body, headers=headers, timeout=60
        ).raise_for_status()
    return "changed"


def test_changes_are_told_in_words_and_undone(changed: str, visits: Visits) -> None:
    with visits.to(f"{changed}/log") as opened_page:
        page = opened_page.page
        rows = page.get_by_role("tabpanel").get_by_role("listitem")
        expect(rows.filter(has_text="Added harbour.md")).to_be_visible()
        kind = rows.filter(has_text="Kind of Old Quay: person → location")
        expect(kind).to_be_visible()
        expect(page.get_by_role("heading", level=2)).to_have_count(1)
        opened_page.assert_fits()
        kind.get_by_role("button", name="Undo").click()
        page.get_by_role("dialog").get_by_role("button", name="Undo").click()
        expect(rows.filter(has_text="Took back")).to_be_visible()
        expect(kind.get_by_text("Undone")).to_be_visible()
        page.get_by_role("tab", name="All events").click()
        row = page.get_by_role("button", name="ChunksCreated").filter(has_text="harbour.md")
        expect(row).to_be_visible()


def test_deleted_documents_wait_in_the_bin(changed: str, visits: Visits) -> None:
    with visits.to(f"{changed}/documents") as opened_page:
        page = opened_page.page
        for name in ("ferry.md", "heron.md"):
            page.get_by_role("checkbox", name=f"Select {name}").check(force=True)
        page.get_by_role("button", name="Delete", exact=True).click()
        page.get_by_role("dialog").get_by_role("button", name="Delete").click()
        expect(page.get_by_role("link", name="ferry.md")).to_be_hidden()
        page.get_by_role("link", name="Bin").click()
        rows = page.get_by_role("region", name="Bin").get_by_role("listitem")
        expect(rows).to_have_count(2)
        opened_page.assert_fits()
        page.get_by_role("button", name="Add again: ferry.md").click()
        expect(rows).to_have_count(1)
        page.get_by_role("main").get_by_role("link", name="Documents").click()
        expect(page.get_by_role("link", name="ferry.md")).to_be_visible()
        expect(page.get_by_role("link", name="heron.md")).to_be_hidden()


def test_all_since_a_day_is_undone_as_one_act(changed: str, visits: Visits) -> None:
    with visits.to(f"{changed}/log") as opened_page:
        page = opened_page.page
        page.get_by_role("button", name="Undo from here on").click()
        dialog = page.get_by_role("dialog")
        expect(dialog.get_by_role("listitem").filter(has_text="create entity")).to_be_visible()
        expect(dialog.get_by_text("such as documents that were new")).to_be_visible()
        assert opened_page.serious() == []
        dialog.get_by_role("button", name="Undo").click()
        expect(dialog).to_be_hidden()
        rows = page.get_by_role("tabpanel").get_by_role("listitem")
        created = rows.filter(has_text="Added the entity Old Quay")
        expect(created.get_by_text("Undone")).to_be_visible()
        page.get_by_role("button", name="Undo from here on").click()
        expect(page.get_by_role("dialog", name="There is nothing to undo")).to_be_visible()
