"""LightRAG's own web page, unchanged, in a real browser against a whole stack: what people click
works.
"""

import os
import re
import subprocess
from collections.abc import Generator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, expect

from tests.support.language_model import LanguageModel, serving
from tests.support.stack import Stack, running
from tests.support.web_page import OpenedPage, folder

pytestmark = pytest.mark.nightly  # what it asks for: tests/unit/gateway

ROOT = Path(__file__).resolve().parents[2]
DOCUMENTATION = (ROOT / "docs/web-page.md").read_text("utf-8")
USER = "ada"
PASSWORD = "correct horse"
HARBOUR = """# The Harbour Office

Ada Marsh leads the Harbour Office since 1921. Ben Holt works for the Harbour Office at Port Elm.
"""
HOSTILE = """# <img src="data:,x" onerror="window.taken='image'"><script>window.taken='script'</script>

<Ben Holt>"><svg onload="window.taken='drawing'"> met Ada Marsh [here](javascript:window.taken='link').
"""  # noqa: E501


def documented() -> dict[str, str]:
    """The variables that the documentation's first lines set, set by a shell as they stand
    there.
    """
    lines = DOCUMENTATION.split("```sh\n")[1].split("```")[0].splitlines()
    assert (lines[0], lines[-1]) == ("make webui", "make up")
    script = "\n".join([*lines[1:-1], "env -0"])
    shown = subprocess.run(
        ["sh", "-ec", script], cwd=ROOT, env=os.environ, capture_output=True, check=True, text=True
    )
    given = dict(line.split("=", 1) for line in shown.stdout.split("\0") if line)
    return {name: given[name] for name in re.findall(r"export (\w+)=", script)}


@pytest.fixture(scope="module")
def model() -> Generator[LanguageModel]:
    with serving() as model:
        yield model


@pytest.fixture(scope="module")
def stack(tmp_path_factory: pytest.TempPathFactory, model: LanguageModel) -> Generator[Stack]:
    given = documented()
    assert Path(given["WEBUI_DIR"]) == folder()
    env = {**model.environment(), "EMBEDDING_MODEL": "lexical", "EMBEDDING_BASE_URL": "", **given}
    with running(tmp_path_factory.mktemp("page") / "data", **env) as stack:
        yield stack


@pytest.fixture(scope="module")
def logged_in(browser: Browser, stack: Stack) -> OpenedPage:
    """The page after a login."""
    opened_page = OpenedPage(
        browser.new_context(viewport={"width": 1280, "height": 800}).new_page()
    )
    opened_page.page.goto(f"{stack.state.api}/webui/")
    opened_page.log_in(USER, PASSWORD)
    expect(opened_page.page.get_by_text("Document Management")).to_be_visible()
    return opened_page


@pytest.fixture
def opened_page(logged_in: OpenedPage) -> Generator[OpenedPage]:
    """The page; what a test does in it must not go wrong."""
    yield logged_in
    assert logged_in.faults == []


@pytest.fixture(scope="module")
def uploaded(logged_in: OpenedPage, tmp_path_factory: pytest.TempPathFactory) -> OpenedPage:
    """The page once a document of two persons was uploaded and processed."""
    file = tmp_path_factory.mktemp("files") / "harbour.md"
    file.write_text(HARBOUR)
    logged_in.tab("Documents")
    logged_in.upload(file)
    expect(logged_in.page.get_by_role("button", name="Completed (1)")).to_be_visible()
    return logged_in


def test_a_wrong_password_is_refused_on_the_page(browser: Browser, stack: Stack) -> None:
    stranger = OpenedPage(browser.new_page())
    stranger.page.goto(f"{stack.state.api}/webui/")
    stranger.log_in(USER, "wrong")
    expect(stranger.page.get_by_text("Login failed")).to_be_visible()
    assert stranger.page.title() == "Lightstream"
    assert [fault for fault in stranger.faults if "/login" in fault] != []
    stranger.page.close()


def test_a_document_is_uploaded_and_watched_until_it_is_done(
    uploaded: OpenedPage, opened_page: OpenedPage
) -> None:
    page = opened_page.page
    row = page.get_by_role("row").filter(has_text="The Harbour Office")
    expect(row.get_by_text("Completed")).to_be_visible()
    page.get_by_text("Show", exact=True).click()
    expect(page.get_by_role("row").filter(has_text="harbour.md")).to_be_visible()
    page.get_by_role("button", name="Pipeline").click()
    expect(page.get_by_role("dialog").get_by_text("1 processed")).to_be_visible()
    page.keyboard.press("Escape")


def test_the_page_shows_what_the_server_works_with(
    uploaded: OpenedPage, opened_page: OpenedPage
) -> None:
    opened_page.page.get_by_text("Connected").click()
    expect(opened_page.page.get_by_role("dialog").get_by_text("lexical-hash-v1")).to_be_visible()
    opened_page.page.keyboard.press("Escape")


def test_the_graph_is_drawn_and_an_entity_is_described_anew_and_renamed(
    uploaded: OpenedPage, opened_page: OpenedPage, stack: Stack
) -> None:
    page = opened_page.page
    opened_page.tab("Knowledge Graph")
    page.get_by_role("combobox", name="Search node name").click()
    page.get_by_role("option", name="*").click()
    expect(page.get_by_text(re.compile("node: [1-9]"))).to_be_visible()
    assert page.locator("canvas").count() > 0
    opened_page.select("Ben Holt")
    opened_page.edit("Description", "Ben Holt keeps the lighthouse.")
    expect(page.get_by_text("Ben Holt keeps the lighthouse.")).to_be_visible()
    opened_page.edit("Name", "Benjamin Holt")
    expect(page.locator("label").get_by_text("Benjamin Holt").first).to_be_visible()
    page.reload()
    opened_page.tab("Knowledge Graph")
    opened_page.select("Benjamin Holt")
    expect(page.get_by_text("Ben Holt keeps the lighthouse.")).to_be_visible()


def test_an_answer_appears_while_it_is_being_written(
    uploaded: OpenedPage, opened_page: OpenedPage, model: LanguageModel
) -> None:
    page = opened_page.page
    opened_page.tab("Retrieval")
    model.reply = "Marsh **leads** the office [1]."
    model.flowing.clear()
    try:
        opened_page.ask("Who leads the Harbour Office?")
        expect(page.get_by_text("Marsh", exact=True)).to_be_visible()
        assert page.get_by_text("leads the office").count() == 0
    finally:
        model.flowing.set()
    expect(page.get_by_text("Marsh leads the office [1].")).to_be_visible()
    expect(page.locator("strong").get_by_text("leads")).to_be_visible()


def test_s15_what_documents_and_answers_hold_is_shown_and_never_run(
    uploaded: OpenedPage, opened_page: OpenedPage, model: LanguageModel, tmp_path: Path
) -> None:
    page = opened_page.page
    file = tmp_path / "<img src=x onerror=alert(1)>.md"
    file.write_text(HOSTILE)
    opened_page.tab("Documents")
    opened_page.upload(file)
    expect(page.get_by_role("button", name="Completed (2)")).to_be_visible()
    opened_page.tab("Retrieval")
    model.reply = f"{HOSTILE} That was all."
    opened_page.ask("Whom did Ben Holt meet?")
    expect(page.get_by_text("That was all.")).to_be_visible()
    assert page.evaluate("window.taken") is None


def test_those_who_only_ask_have_a_page_of_their_own(
    uploaded: OpenedPage, opened_page: OpenedPage, stack: Stack
) -> None:
    asking = OpenedPage(opened_page.page.context.new_page())
    asking.page.goto(f"{stack.state.api}/workspace")
    expect(asking.page.locator("#query-input")).to_be_visible()
    assert asking.page.get_by_text("Document Management").count() == 0
    assert asking.faults == []
    asking.page.close()


def test_a_document_is_deleted_and_the_user_logs_out(
    uploaded: OpenedPage, opened_page: OpenedPage, stack: Stack
) -> None:
    page = opened_page.page
    opened_page.tab("Documents")
    page.get_by_role("row").filter(has_text="harbour.md").get_by_role("checkbox").check()
    page.get_by_role("button", name="Delete").click()
    page.fill("#confirm-text", "yes")
    page.get_by_role("button", name="YES", exact=True).click()
    expect(page.get_by_role("row").filter(has_text="harbour.md")).to_be_hidden()
    expect(page.get_by_role("button", name="All (1)")).to_be_visible()
    page.locator("header button").last.click()
    expect(page.locator("#username-input")).to_be_visible()
    assert page.evaluate("localStorage.getItem('LIGHTRAG-API-TOKEN')") is None
