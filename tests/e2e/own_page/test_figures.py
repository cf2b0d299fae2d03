"""Figures that nobody has described: what that would cost is shown, then it is ordered, an operator
process does it, and an answer shows what the figure says.
"""

from collections.abc import Generator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, expect

from tests.support.access import SECRET
from tests.support.misbehaving_provider import MisbehavingProvider, serving
from tests.support.misbehaving_provider.chat import MODEL
from tests.support.misbehaving_provider.server import KEY
from tests.support.own_page import PASSWORD, USER, Visits, built
from tests.support.pictures import picture, word_file
from tests.support.stack import running

pytestmark = pytest.mark.nightly

KEEPER = "Oda Brandvold"


@pytest.fixture
def provider() -> Generator[MisbehavingProvider]:
    with serving() as provider:
        yield provider


@pytest.fixture
def visits(browser: Browser, provider: MisbehavingProvider, tmp_path: Path) -> Generator[Visits]:
    """A stack with a document that was added before it had a model that sees pictures."""
    built()
    account = {"AUTH_ACCOUNTS": f"{USER}:{PASSWORD}", "TOKEN_SECRET": SECRET}
    vision = {"VLM_BASE_URL": provider.url, "VLM_MODEL": MODEL, "VLM_API_KEY": KEY}
    prices = f'{{"{MODEL}": {{"prompt": 1000, "completion": 1000}}}}'
    (tmp_path / "gauges.docx").write_bytes(word_file(picture()))
    with running(tmp_path / "data") as stack:
        assert stack.run("add", str(tmp_path / "gauges.docx"), "--wait").returncode == 0
        stack.down()
        # Accounts alone: what an operator process does needs no key of the API.
        stack.env |= {**account, **vision, "MODEL_PRICES": prices}
        stack.up()
        yield Visits(browser, stack.state.api)


def test_figures_are_estimated_described_and_shown_in_an_answer(
    visits: Visits, provider: MisbehavingProvider
) -> None:
    with visits.to("default/documents") as opened_page:
        page = opened_page.page
        page.get_by_role("link", name="gauges.docx").click()
        page.get_by_role("button", name="Describe figures").click()
        dialog = page.get_by_role("dialog")
        describe = dialog.get_by_role("button", name="Describe", exact=True)
        expect(describe).to_be_disabled()
        dialog.get_by_role("button", name="Estimate").click()
        expect(dialog.get_by_role("status")).to_contain_text("At most, for 1 figure:")
        expect(dialog.get_by_role("status").get_by_role("strong").last).to_contain_text("USD")
        opened_page.assert_fits()
        assert provider.asked("figure") == []
        describe.click()
        expect(dialog.get_by_role("status")).to_contain_text("1 figure is being described")
        dialog.get_by_role("button", name="Close").click()
        expect(page.get_by_text(KEEPER).first).to_be_visible()
        page.get_by_role("link", name="Ask about it").click()
        page.get_by_role("textbox", name="Question").fill("Who keeps the gauge at Wreyland?")
        page.keyboard.press("Enter")
        figures = page.get_by_role("group", name="Figures").first
        expect(figures.get_by_role("img")).to_be_visible()
        expect(page.get_by_role("main")).to_contain_text(KEEPER)
        opened_page.assert_fits()
    assert len(provider.asked("figure")) == 1
