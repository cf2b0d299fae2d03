"""Sources are listed on the page with their last run, paused with a reason and resumed."""

from pathlib import Path

import pytest
from playwright.sync_api import expect

from tests.support.own_page import Visits
from tests.support.stack import Stack

pytestmark = pytest.mark.nightly


def test_a_source_is_paused_with_a_reason_and_resumed(
    visits: Visits, stack: Stack, tmp_path: Path
) -> None:
    folder = tmp_path / "minutes"
    folder.mkdir()
    (folder / "letter.md").write_text("Ben Holt offered nine hundred shillings.", "utf-8")
    sync = ("sync", str(folder), "--workspace", "synced")
    assert stack.run(*sync).returncode == 0
    with visits.to("synced/operations?tab=sources") as opened_page:
        page = opened_page.page
        row = page.get_by_role("region", name="Sources").get_by_role("listitem")
        expect(row).to_contain_text(folder.as_uri())
        expect(row).to_contain_text("1 document · last run")
        row.get_by_role("button", name="Pause").click()
        page.get_by_label("Why").fill("the folder is moved")
        page.get_by_role("dialog").get_by_role("button", name="Pause").click()
        expect(row).to_contain_text("paused")
        expect(row).to_contain_text("the folder is moved")
        opened_page.assert_fits()
        refusal = stack.run(*sync)
        assert refusal.returncode == 2 and "is paused" in refusal.stderr
        row.get_by_role("button", name="Resume").click()
        expect(row).to_contain_text("active")
        assert stack.run(*sync).returncode == 0
