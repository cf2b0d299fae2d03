"""Files are added wherever they are dropped, and what was refused stays to be read."""

import re
from pathlib import Path

import httpx
import pytest
from playwright.sync_api import Browser, Page, expect

from tests.support.own_page import READER, WRITER, OwnPage, Visits
from tests.support.stack import Stack

TEXT = "Clara Voss built the lighthouse of Port Elm in 1898.\n"


def drop(page: Page, file: Path) -> None:
    """Drop a file on the upper left corner of the window, as the system does."""
    session = page.context.new_cdp_session(page)
    data = {"items": [], "files": [str(file)], "dragOperationsMask": 1}
    for kind in ("dragEnter", "dragOver", "drop"):
        session.send("Input.dispatchDragEvent", {"type": kind, "x": 3, "y": 3, "data": data})


@pytest.fixture
def lighthouse(tmp_path: Path) -> Path:
    """A file that can be read."""
    file = tmp_path / "lighthouse.md"
    file.write_text(TEXT, "utf-8")
    return file


@pytest.mark.parametrize("place", ["documents", "ask", "graph", "log", "operations"])
def test_a_file_dropped_outside_the_middle_of_a_page_is_added(
    visits: Visits, lighthouse: Path, place: str
) -> None:
    with visits.to(f"dropped-{place}/{place}") as opened_page:
        page = opened_page.page
        expect(page.get_by_role("navigation", name="Pages")).to_be_visible()
        drop(page, lighthouse)
        expect(page.get_by_text("1 of 1 uploaded")).to_be_visible()
        assert page.url.endswith(f"#/dropped-{place}/{place}")
        assert opened_page.serious() == []
        page.get_by_role("link", name="Documents", exact=True).first.click()
        expect(page.get_by_role("link", name="lighthouse.md")).to_be_visible()


def test_a_dropped_file_leaves_the_page_where_it_is_for_strangers_and_readers(
    browser: Browser, stack: Stack, lighthouse: Path
) -> None:
    opened_page = OwnPage(browser.new_page(), stack.state.api)
    page = opened_page.page
    page.goto(f"{stack.state.api}/ui/#/default/documents")
    page.get_by_role("tab", name="API key").click()
    drop(page, lighthouse)
    page.get_by_role("textbox", name="API key").fill(READER)
    page.get_by_role("button", name="Sign in").click()
    expect(page.get_by_role("heading", name="Documents", exact=True)).to_be_visible()
    drop(page, lighthouse)
    expect(page.get_by_role("heading", name="Documents", exact=True)).to_be_visible()
    assert page.get_by_text("lighthouse.md").count() == 0
    page.close()


def test_a_refused_file_stays_a_row_until_it_is_dismissed(visits: Visits, tmp_path: Path) -> None:
    file = tmp_path / "broken.pdf"
    file.write_bytes(b"%PDF-1.7 nothing of it")
    with visits.to("refused/documents") as opened_page:
        page = opened_page.page
        expect(page.get_by_role("heading", name="Documents", exact=True)).to_be_visible()
        drop(page, file)
        row = page.get_by_role("region", name="Uploads").get_by_role("listitem")
        expect(row.get_by_text("not added")).to_be_visible()
        why = row.locator(".message").inner_text()
        assert re.search("(?i)pdf", why)
        page.reload()
        expect(row.locator(".message")).to_have_text(why)
        for width in (1280, 400):
            page.set_viewport_size({"width": width, "height": 800})
            assert page.evaluate("document.documentElement.scrollWidth") <= width
        assert opened_page.serious() == []
        page.get_by_role("button", name="Dismiss broken.pdf").click()
        expect(page.get_by_role("region", name="Uploads")).to_be_hidden()
        page.reload()
        expect(page.get_by_role("heading", name="No documents yet")).to_be_visible()
        expect(page.get_by_role("region", name="Uploads")).to_be_hidden()
        opened_page.faults.clear()  # the refusal, as it must be


def refuse(visits: Visits, workspace: str, name: str) -> None:
    """Send an empty file, as a program does."""
    answer = httpx.post(
        f"{visits.api}/documents/upload",
        headers={"X-API-Key": WRITER, "X-Workspace": workspace},
        files={"file": (name, b"")},
        timeout=60,
    )
    assert answer.status_code == 422


def test_what_a_program_sent_in_vain_is_listed_until_it_is_dismissed(visits: Visits) -> None:
    workspace = "sent-in-vain"
    for name in ("first.txt", "second.txt", "third.txt"):
        refuse(visits, workspace, name)
    with visits.to(f"{workspace}/documents") as opened_page:
        page = opened_page.page
        region = page.get_by_role("region", name="Files that became no document")
        rows = region.get_by_role("listitem")
        expect(rows).to_have_count(3)
        expect(rows.first).to_contain_text("third.txt")
        expect(rows.first.locator(".message")).to_contain_text("empty")
        for width in (1280, 400):
            page.set_viewport_size({"width": width, "height": 800})
            assert page.evaluate("document.documentElement.scrollWidth") <= width
        assert opened_page.serious() == []
        page.get_by_role("button", name="Language").click()
        page.get_by_role("menuitemradio", name="中文").click()
        expect(page.get_by_role("region", name="未成为文档的文件")).to_be_visible()
        page.get_by_role("button", name="语言").click()
        page.get_by_role("menuitemradio", name="English").click()
        region.get_by_role("button", name="Dismiss third.txt").click()
        expect(rows).to_have_count(2)
        region.get_by_role("button", name="Dismiss all that were refused").click()
        expect(region).to_be_hidden()
        page.reload()
        expect(page.get_by_role("heading", name="No documents yet")).to_be_visible()
        expect(region).to_be_hidden()
