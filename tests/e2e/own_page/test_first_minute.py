"""The first minute of somebody who has never seen the page: an example, and a question of two
steps.
"""

import pytest
from playwright.sync_api import expect

from tests.support.own_page import Visits

pytestmark = pytest.mark.nightly

TWO_STEPS = "Where does the brother of Dora Lind work?"


def test_the_example_answers_a_question_of_two_steps(visits: Visits) -> None:
    with visits.to("minute/documents") as opened_page:
        page = opened_page.page
        page.get_by_role("link", name="Choose a language model").click()
        expect(page.get_by_role("heading", name="Try another")).to_be_visible()
        page.get_by_role("link", name="Documents", exact=True).click()
        page.get_by_role("button", name="Add a small example").click()
        page.get_by_role("button", name=TWO_STEPS).click()
        opened_page.assert_fits()
        page.get_by_role("textbox", name="Question").press("Enter")
        for name in ("harbour-office.md", "ferry.md"):
            expect(page.locator(f'.turn .cite[title="{name}"]')).to_be_visible()
        page.get_by_role("button", name="New conversation").click()
        page.get_by_role("button", name=TWO_STEPS).click()
        expect(page.locator(".turn .cite")).to_have_count(2)
        opened_page.assert_fits()
