"""Our own web page in a real browser against a whole stack: what people click works, for all of
them.
"""

import re
from collections.abc import Generator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.support.own_page import PASSWORD, READER, SERIOUS, USER, WIDTHS, OwnPage, built
from tests.support.stack import Stack

HOSTILE = "<img src=x onerror=window.taken=1>.md"
LONG = "a-very-long-name-" * 14 + ".md"
BROKEN = "broken.pdf"
REBUILDING = 400_000
SERVICES = ("chunker", "extractor", "merger", "indexer", "query")
"""Milliseconds: a rebuild starts a process of its own for each step."""
TEXTS = {
    "harbour.md": (
        "# The Harbour Office\n\nAda Marsh leads the Harbour Office. Ben Holt keeps its "
        "lighthouse.\n"
    ),
    HOSTILE: (
        "<script>window.taken='script'</script> met Ada Marsh <svg "
        "onload=\"window.taken='drawing'\">.\n"
    ),
    LONG: "Clara Voss built the lighthouse of Port Elm in 1898.\n",
    BROKEN: "no pdf at all",
}


@pytest.fixture(scope="module")
def signed_in(browser: Browser, stack: Stack) -> OwnPage:
    opened_page = OwnPage(
        browser.new_context(viewport={"width": 1280, "height": 800}).new_page(), stack.state.api
    )
    opened_page.page.goto(stack.state.api)
    opened_page.sign_in(USER, PASSWORD)
    expect(opened_page.page.get_by_role("heading", name="Documents", exact=True)).to_be_visible()
    opened_page.faults.clear()  # the first answer to a stranger is a 401
    return opened_page


@pytest.fixture
def opened_page(signed_in: OwnPage) -> Generator[OwnPage]:
    """The page; what a test does in it must not go wrong."""
    yield signed_in
    assert signed_in.faults == []


@pytest.fixture(scope="module")
def library(signed_in: OwnPage, tmp_path_factory: pytest.TempPathFactory) -> OwnPage:
    """The page once files were given to it, and every document was watched until it came to its
    end.
    """
    folder = tmp_path_factory.mktemp("files")
    for name, text in TEXTS.items():
        (folder / name).write_text(text)
    page = signed_in.page
    expect(page.get_by_role("heading", name="No documents yet")).to_be_visible()
    with page.expect_file_chooser() as chooser:
        page.get_by_role("button", name="Add files").click()
    chooser.value.set_files([folder / name for name in TEXTS])
    expect(page.get_by_text("3 of 4 uploaded")).to_be_visible()
    expect(page.get_by_role("button", name="Ready 3")).to_be_visible()
    expect(page.get_by_text("not added")).to_be_visible()
    signed_in.faults = [
        fault for fault in signed_in.faults if "422" not in fault
    ]  # the broken file
    return signed_in


def test_a_wrong_password_is_refused_in_words(browser: Browser, stack: Stack) -> None:
    stranger = OwnPage(browser.new_page(), stack.state.api)
    stranger.page.goto(f"{stack.state.api}/ui/")
    stranger.sign_in(USER, "wrong")
    expect(stranger.page.get_by_text("The user name or the password is wrong.")).to_be_visible()
    assert stranger.serious() == []
    stranger.page.close()


def test_files_are_added_watched_and_told_why_not(library: OwnPage, opened_page: OwnPage) -> None:
    uploads = opened_page.page.get_by_role("region", name="Uploads")
    refused = uploads.get_by_role("listitem").filter(has_text=BROKEN)
    expect(refused.get_by_text("not added")).to_be_visible()
    assert re.search("(?i)pdf", refused.locator(".message").inner_text())
    row = opened_page.page.get_by_role("row").filter(has_text="harbour.md")
    expect(row.get_by_text("Ready")).to_be_visible()


def test_what_names_and_texts_hold_is_shown_and_never_run(
    library: OwnPage, opened_page: OwnPage
) -> None:
    expect(opened_page.page.get_by_role("link", name=HOSTILE)).to_be_visible()
    assert opened_page.page.evaluate("window.taken") is None


def test_a_document_has_a_page_of_its_own(library: OwnPage, opened_page: OwnPage) -> None:
    page = opened_page.page
    page.get_by_role("link", name=HOSTILE).click()
    expect(page.get_by_role("heading", name=HOSTILE)).to_be_visible()
    expect(page.get_by_text("Indexed 1/1")).to_be_visible()
    assert page.evaluate("window.taken") is None
    assert opened_page.serious() == []
    page.get_by_role("main").get_by_role("link", name="Documents").click()


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_the_list_is_accessible_at_every_width(
    library: OwnPage, opened_page: OwnPage, scheme: Any
) -> None:
    page = opened_page.page
    page.emulate_media(color_scheme=scheme)
    for width in WIDTHS:
        page.set_viewport_size({"width": width, "height": 800})
        assert opened_page.serious() == [], SERIOUS
        assert page.evaluate("document.documentElement.scrollWidth") <= width
    page.set_viewport_size({"width": 1280, "height": 800})


def test_the_page_speaks_chinese(library: OwnPage, opened_page: OwnPage) -> None:
    page = opened_page.page
    page.get_by_role("button", name="Language").click()
    page.get_by_role("menuitemradio", name="中文").click()
    expect(page.get_by_role("heading", name="文档")).to_be_visible()
    assert page.evaluate("document.documentElement.lang") == "zh-CN"
    page.get_by_role("button", name="语言").click()
    page.get_by_role("menuitemradio", name="English").click()
    expect(page.get_by_role("heading", name="Documents", exact=True)).to_be_visible()


def test_a_reader_sees_nothing_that_would_be_refused(
    library: OwnPage, browser: Browser, stack: Stack
) -> None:
    reader = OwnPage(browser.new_page(), stack.state.api)
    reader.page.goto(f"{stack.state.api}/ui/")
    reader.page.get_by_role("tab", name="API key").click()
    reader.page.get_by_role("textbox", name="API key").fill(READER)
    reader.page.get_by_role("button", name="Sign in").click()
    expect(reader.page.get_by_role("link", name="harbour.md")).to_be_visible()
    assert reader.page.get_by_role("button", name="Add files").count() == 0
    assert reader.page.get_by_role("checkbox").count() == 0
    reader.page.get_by_role("link", name="Operations").click()
    expect(reader.page.get_by_text("No budget")).to_be_visible()
    assert reader.page.get_by_role("button", name="Set").count() == 0
    assert reader.page.get_by_role("tab", name="Projections").count() == 0
    reader.page.close()


def deleted_by_keyboard(page: Page, name: str) -> None:
    page.get_by_role("checkbox", name=f"Select {name}").focus()
    page.keyboard.press("Space")
    page.get_by_role("button", name="Delete").focus()
    page.keyboard.press("Enter")
    expect(page.get_by_role("dialog").get_by_role("button", name="Delete")).to_be_focused()
    page.keyboard.press("Enter")


def test_a_document_is_deleted_by_keyboard_alone(library: OwnPage, opened_page: OwnPage) -> None:
    deleted_by_keyboard(opened_page.page, HOSTILE)
    expect(opened_page.page.get_by_role("link", name=HOSTILE)).to_be_hidden()
    expect(opened_page.page.get_by_role("button", name="All 2")).to_be_visible()


def test_a_lost_connection_is_said_and_found_again(library: OwnPage, opened_page: OwnPage) -> None:
    page = opened_page.page
    page.context.set_offline(True)
    page.get_by_role("button", name="Ready 2").click()
    expect(page.get_by_text("No connection to the server.")).to_be_visible()
    page.context.set_offline(False)
    expect(page.get_by_text("No connection to the server.")).to_be_hidden()
    expect(page.get_by_role("link", name="harbour.md")).to_be_visible()
    opened_page.faults = [
        fault for fault in opened_page.faults if "ERR_INTERNET_DISCONNECTED" not in fault
    ]


def test_an_answer_leads_to_the_passage_it_cites(library: OwnPage, opened_page: OwnPage) -> None:
    page = opened_page.page
    page.get_by_role("link", name="Ask", exact=True).click()
    page.get_by_role("textbox", name="Question").fill("Who leads the Harbour Office?")
    page.keyboard.press("Enter")
    expect(page.get_by_text("Ada Marsh leads the Harbour Office.").first).to_be_visible()
    page.get_by_role("button", name="Evidence").click()
    expect(page.get_by_text("How it was found")).to_be_visible()
    assert opened_page.serious() == []
    page.get_by_role("button", name="Source 1: harbour.md").first.click()
    page.get_by_role("dialog").get_by_role("link", name="Show it in the document").first.click()
    expect(
        page.locator(".chunk.cited").get_by_text("Ben Holt keeps its lighthouse.")
    ).to_be_visible()
    page.get_by_role("tab", name="History").click()
    page.get_by_role("button", name=re.compile("EntitiesExtracted")).first.click()
    expect(page.locator("pre").get_by_text('"specversion"')).to_be_visible()
    assert opened_page.serious() == []


def test_an_entity_is_found_and_described_anew(library: OwnPage, opened_page: OwnPage) -> None:
    page = opened_page.page
    page.get_by_role("link", name="Graph", exact=True).click()
    page.get_by_role("combobox", name="Find an entity").fill("Ada M")
    page.get_by_role("option", name="Ada Marsh").click()
    panel = page.get_by_role("complementary", name="Ada Marsh")
    panel.get_by_role("button", name="Edit").click()
    page.get_by_role("dialog").get_by_label("Description").fill("She counts the ships.")
    page.get_by_role("dialog").get_by_role("button", name="Save").click()
    expect(panel.get_by_text("She counts the ships.")).to_be_visible()
    panel.get_by_text("History").click()
    expect(panel.get_by_text("harbour.md").first).to_be_visible()
    assert page.locator("canvas").count() > 0
    assert opened_page.serious() == []
    page.get_by_role("link", name="Log", exact=True).click()
    page.get_by_role("tab", name="All events").click()
    expect(page.get_by_role("button", name=re.compile("GraphEdited")).first).to_be_visible()
    assert opened_page.serious() == []
    page.get_by_role("link", name="Documents", exact=True).click()


def test_each_service_says_how_far_it_is(library: OwnPage, opened_page: OwnPage) -> None:
    page = opened_page.page
    page.get_by_role("link", name="Operations").click()
    for service in SERVICES:
        expect(page.get_by_role("term").filter(has_text=service)).to_be_visible()
    expect(page.get_by_text("all handled")).to_have_count(len(SERVICES))
    assert opened_page.serious() == []
    page.get_by_role("link", name="Documents", exact=True).click()


def test_a_projection_is_rebuilt_and_promoted(library: OwnPage, opened_page: OwnPage) -> None:
    page = opened_page.page
    page.get_by_role("link", name="Operations").click()
    expect(page.get_by_role("heading", name=re.compile("is wrong"))).to_be_visible()
    expect(page.get_by_text("Answering")).to_be_visible()
    assert opened_page.serious() == []
    page.get_by_role("tab", name="Projections").click()
    page.get_by_role("button", name=re.compile("What$")).click()
    page.get_by_role("option", name="Graph").click()
    page.get_by_role("button", name="Start").click()
    expect(page.get_by_text("the same as live")).to_be_visible(timeout=REBUILDING)
    page.get_by_role("button", name="Promote").click()
    page.get_by_role("dialog").get_by_role("button", name="Promote").click()
    expect(page.get_by_role("row", name=re.compile("Graph")).get_by_text("before: ")).to_be_visible(
        timeout=REBUILDING
    )
    expect(page.get_by_role("button", name="Roll back")).to_be_enabled()
    assert opened_page.serious() == []


def test_a_budget_is_set_and_cleared(library: OwnPage, opened_page: OwnPage) -> None:
    page = opened_page.page
    page.get_by_role("link", name="Operations").click()
    page.get_by_role("tab", name="Costs").click()
    page.get_by_label("Tokens").fill("1000000")
    page.get_by_role("button", name="Set").click()
    expect(page.get_by_role("meter", name="0 of 1,000,000 Tokens")).to_be_visible()
    assert opened_page.serious() == []
    page.get_by_role("button", name="Clear").click()
    expect(page.get_by_text("No budget")).to_be_visible()


def test_a_webhook_is_added_with_its_secret_and_removed(
    library: OwnPage, opened_page: OwnPage
) -> None:
    page = opened_page.page
    page.get_by_role("link", name="Operations").click()
    page.get_by_role("tab", name="Webhooks").click()
    page.get_by_role("button", name="Add a webhook").click()
    dialog = page.get_by_role("dialog")
    dialog.get_by_label("Address").fill("http://127.0.0.1:9/told")
    assert opened_page.serious() == []
    dialog.get_by_role("button", name="Add a webhook").click()
    expect(dialog.get_by_text("whsec_")).to_be_visible()
    dialog.get_by_role("button", name="Close").click()
    expect(page.get_by_text("http://127.0.0.1:9/told")).to_be_visible()
    page.get_by_role("button", name="Remove").click()
    page.get_by_role("dialog").get_by_role("button", name="Remove").click()
    expect(page.get_by_role("heading", name="No webhooks")).to_be_visible()


def test_settings_tell_their_source_and_no_secret(library: OwnPage, opened_page: OwnPage) -> None:
    page = opened_page.page
    page.get_by_role("link", name="Operations").click()
    page.get_by_role("tab", name="Settings").click()
    page.get_by_label("Find a setting").fill("TOKEN_SECRET")
    expect(
        page.get_by_role("row", name=re.compile("TOKEN_SECRET")).get_by_text("(set, not shown)")
    ).to_be_visible()
    assert opened_page.serious() == []
    page.get_by_role("link", name="Log", exact=True).click()
    page.get_by_role("tab", name="All events").click()
    expect(page.get_by_text("chunker").first).to_be_visible()
    assert opened_page.serious() == []
    page.get_by_role("link", name="Documents", exact=True).click()


def test_a_session_that_ended_is_said(library: OwnPage, opened_page: OwnPage, stack: Stack) -> None:
    page = opened_page.page
    page.evaluate(
        "localStorage.setItem('lightstream.credentials', JSON.stringify({token: 'e30.e30.x'}))"
    )
    page.reload()
    expect(page.get_by_text("Your session has ended.")).to_be_visible()
    opened_page.faults.clear()  # 401, as it must be


def test_it_asks_no_other_host(library: OwnPage, opened_page: OwnPage) -> None:
    assert {
        address for address in opened_page.hosts if address not in (opened_page.api, "")
    } == set()


def test_the_first_load_is_small(stack: Stack) -> None:
    assert built().first_load <= 350_000


def test_the_built_page_has_no_script_of_its_own(stack: Stack) -> None:
    entry = (Path(built().folder) / "index.html").read_text("utf-8")
    assert not re.search(r"<script(?![^>]*\bsrc=)|<style|\son\w+=|style=", entry)
