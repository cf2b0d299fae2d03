"""Models are shown without their keys, and tried before they are used."""

import pytest
from playwright.sync_api import expect

from tests.support.own_page import Visits

pytestmark = pytest.mark.nightly


def test_a_model_is_tried_and_its_key_is_never_shown(visits: Visits) -> None:
    with visits.to("default/operations?tab=models") as opened_page:
        page = opened_page.page
        embedder = page.get_by_role("listitem").filter(has_text="Embedding model")
        embedder.get_by_role("button", name="Test").click()
        expect(embedder.get_by_text("It works")).to_be_visible()
        page.get_by_label("Address").fill("http://127.0.0.1:1/v1")
        page.get_by_label("Model", exact=True).fill("nobody")
        page.get_by_label("Key").fill("sk-never-shown")
        opened_page.assert_fits()
        page.get_by_role("button", name="Test", exact=True).last.click()
        expect(page.get_by_text("It does not work")).to_be_visible()
        opened_page.assert_fits()
        assert "sk-never-shown" not in page.locator("main").inner_text()
