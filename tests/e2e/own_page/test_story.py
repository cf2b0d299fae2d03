"""The story of docs/story.md, clicked through: two groups, a hidden letter, an answer with its
receipt, golden questions, an amendment, a contradiction, a branch on trial, and an erasure. What
the page lacks, operators do by commands.
"""

from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace

import pytest
from playwright.sync_api import Page, expect

from tests.support.own_page import WRITER, OwnPage, Visits
from tests.support.stack import Stack

pytestmark = pytest.mark.nightly

TARIFF = (
    "The mooring fee of a boat in Port Elm is twelve shillings a week. "
    "Ada Marlow leads the Harbour Office, which collects the mooring fee."
)
LETTER = "Ben Holt offered Ada Marlow nine hundred shillings for the old tide gauge."
AMENDMENT = "The mooring fee of a boat in Port Elm is ten shillings a week."
HANDBOOK = "The mooring fee of a boat in Port Elm is eleven shillings a week."
FEE = "What is the mooring fee of a boat in Port Elm?"
OFFER = "Who offered shillings for the tide gauge?"
DEPTH = "How deep is the harbour of Port Elm?"


@dataclass(frozen=True)
class Story:
    """The workspace of the story, as somebody sees it in a browser."""

    visits: Visits
    workspace: str = "story"

    def seen_by(self, user: str) -> "Story":
        """Return the workspace as another account sees it."""
        return replace(self, visits=replace(self.visits, user=user))

    def at(self, place: str) -> AbstractContextManager[OwnPage]:
        """Open a page of the workspace."""
        return self.visits.to(f"{self.workspace}/{place}")

    def paste(self, page: Page, name: str, text: str) -> None:
        """Add a text, and wait until it can be asked about."""
        page.get_by_role("button", name="Paste text").click()
        dialog = page.get_by_role("dialog")
        dialog.get_by_label("Name").fill(name)
        dialog.get_by_label("Text").fill(text)
        dialog.get_by_role("button", name="Add").click()
        expect(page.get_by_role("row").filter(has_text=name)).to_contain_text("Ready")

    def ask(self, page: Page, question: str) -> None:
        """Ask, and wait for the end of the answer."""
        page.get_by_role("textbox", name="Question").fill(question)
        page.keyboard.press("Enter")
        expect(page.get_by_role("button", name="This helped").last).to_be_visible()


def test_the_story_is_clicked_through(visits: Visits, stack: Stack) -> None:
    story = Story(visits)
    _hide_a_letter(story)
    receipt = _record_an_answer(story)
    _amend(story)
    _weigh(story)
    _replay(story, receipt)
    _try_a_branch(story, lambda *words: _command(stack, *words))
    _erase(story, lambda *words: _command(stack, *words))


def _command(stack: Stack, *words: str) -> str:
    stack = replace(stack, env={**stack.env, "LIGHTSTREAM_API_KEY": WRITER})
    result = stack.run(*words, "--workspace", "story")
    assert result.returncode == 0, result.stdout + result.stderr
    return result.stdout


def _hide_a_letter(story: Story) -> None:
    with story.at("documents") as opened_page:
        page = opened_page.page
        page.get_by_role("button", name="What is added is seen by").click()
        page.get_by_role("dialog").get_by_label("Allow").fill("group:council")
        page.get_by_role("button", name="Use it").click()
        button = page.get_by_role("button", name="What is added is seen by: group:council")
        expect(button).to_be_visible()
        opened_page.assert_fits()
        story.paste(page, "letter.md", LETTER)
        button.click()
        page.get_by_role("dialog").get_by_label("Allow").fill("everyone")
        page.get_by_role("button", name="Use it").click()
        story.paste(page, "tariff.md", TARIFF)
    with story.seen_by("ann").at("ask") as opened_page:
        story.ask(opened_page.page, OFFER)
        expect(opened_page.page.get_by_text("Ben Holt offered").first).to_be_visible()
    with story.seen_by("bo").at("ask") as opened_page:
        page = opened_page.page
        story.ask(page, OFFER)
        expect(page.get_by_text("The documents do not say.")).to_be_visible()
        for closed in ("Log", "Operations"):
            expect(page.get_by_role("link", name=closed, exact=True)).to_have_count(0)
        page.get_by_role("link", name="Documents", exact=True).click()
        expect(page.get_by_role("link", name="tariff.md")).to_be_visible()
        expect(page.get_by_text("letter.md")).to_have_count(0)
        expect(page.get_by_role("button", name="Add files")).to_have_count(0)
        page.get_by_role("link", name="tariff.md").click()
        page.get_by_role("tab", name="Details").click()
        expect(page.get_by_role("tabpanel")).to_be_visible()
        page.get_by_role("link", name="Graph", exact=True).click()
        expect(page.get_by_role("button", name="List")).to_be_visible()


def _record_an_answer(story: Story) -> str:
    """Return the id of its receipt."""
    with story.at("ask") as opened_page:
        page = opened_page.page
        story.ask(page, FEE)
        expect(page.get_by_text("twelve shillings a week").first).to_be_visible()
        page.get_by_role("button", name="This helped").click()
        dialog = page.get_by_role("dialog")
        dialog.get_by_role("button", name="Send").click()
        expect(dialog.get_by_text("Thank you. It is noted.")).to_be_visible()
        page.get_by_role("button", name="Make it a golden question").click()
        dialog.get_by_label("What must be found").fill("shillings a week")
        dialog.get_by_role("button", name="Save").click()
        expect(dialog.get_by_text("Saved. The next run asks it.")).to_be_visible()
        dialog.get_by_role("button", name="Close").click()
        page.get_by_role("link", name="Receipt").click()
        expect(page.get_by_role("region", name="Answer")).to_contain_text("twelve shillings")
        receipt = page.url.rpartition("/")[2]
    with story.at("operations?tab=golden") as opened_page:
        page = opened_page.page
        page.get_by_role("button", name="Add a question").click()
        dialog = page.get_by_role("dialog")
        dialog.get_by_label("Question").fill(DEPTH)
        dialog.get_by_role("button", name="It is not in the documents").click()
        dialog.get_by_role("button", name="Save").click()
        dialog.get_by_role("button", name="Close").click()
        page.get_by_role("button", name="Ask them all now").click()
        expect(page.get_by_role("status").get_by_text("2 of 2 passed")).to_be_visible()
        opened_page.assert_fits()
    return receipt


def _amend(story: Story) -> None:
    with story.at("documents") as opened_page:
        page = opened_page.page
        story.paste(page, "tariff-amendment.md", AMENDMENT)
        page.get_by_role("link", name="What supersedes what").click()
        accept = page.get_by_role("button", name="Accept: tariff-amendment.md supersedes tariff.md")
        accept.click()
        expect(accept).to_have_count(0)
        page.get_by_role("link", name="Ask", exact=True).click()
        story.ask(page, FEE)
        expect(page.get_by_text("ten shillings a week").first).to_be_visible()
        note = page.get_by_text("tariff.md is superseded by tariff-amendment.md since")
        expect(note.last).to_be_visible()


def _weigh(story: Story) -> None:
    """Two documents in force contradict each other, and one is given the greater authority."""
    with story.at("documents") as opened_page:
        page = opened_page.page
        story.paste(page, "handbook.md", HANDBOOK)
        page.get_by_role("link", name="tariff-amendment.md").first.click()
        page.get_by_role("tab", name="Details").click()
        page.get_by_role("button", name="Say when it holds").click()
        page.get_by_label("Authority").fill("10")
        opened_page.assert_fits()
        page.get_by_role("button", name="Save").click()
        expect(page.get_by_text("Authority 10")).to_be_visible()
        page.get_by_role("link", name="Ask", exact=True).click()
        story.ask(page, FEE)
        notice = page.get_by_role("status").filter(has_text="Sources contradict each other")
        expect(notice).to_contain_text("tariff-amendment.md has the greater authority (10)")
        expect(notice).to_contain_text("eleven shillings a week")
        opened_page.assert_fits()
    with story.at("graph?entity=Port+Elm") as opened_page:
        page = opened_page.page
        page.get_by_text("Do documents contradict each other?").click()
        pair = page.get_by_role("listitem").filter(has_text="ten shillings a week")
        expect(pair).to_contain_text("(Authority 10)")
        expect(pair).to_contain_text("handbook.md")
        opened_page.assert_fits()


def _replay(story: Story, receipt: str) -> None:
    with story.at(f"receipts/{receipt}") as opened_page:
        page = opened_page.page
        page.get_by_role("button", name="Ask it once more").click()
        notice = page.get_by_role("status").filter(has_text="Asked once more")
        expect(notice).to_contain_text("On what it rests: the same")
        expect(notice).to_contain_text("Answer: the same")


def _try_a_branch(story: Story, command: Callable[..., str]) -> None:
    command("branch", "create", "short", "--chunk-size", "20", "--yes")
    with replace(story, workspace="story..short").at("documents") as opened_page:
        expect(opened_page.page.get_by_role("button", name="Ready 4")).to_be_visible()
    command("golden", "run", "--branch", "short")
    command("branch", "promote", "short", "--yes")
    with story.at("operations?tab=branches") as opened_page:
        page = opened_page.page
        row = page.get_by_role("region", name="Branches").get_by_role("listitem")
        expect(row).to_contain_text("another chunking")
        page.get_by_role("link", name="Ask", exact=True).click()
        story.ask(page, FEE)
        expect(page.get_by_text("ten shillings a week").first).to_be_visible()
        page.get_by_role("link", name="Operations", exact=True).click()
        page.get_by_role("tab", name="Branches").click()
        page.get_by_role("button", name="Let the workspace answer itself again").click()
        expect(
            page.get_by_role("button", name="Let the workspace answer itself again")
        ).to_have_count(0)


def _erase(story: Story, command: Callable[..., str]) -> None:
    with story.at("documents") as opened_page:
        page = opened_page.page
        page.get_by_role("row").filter(has_text="letter.md").get_by_role("checkbox").press(" ")
        page.get_by_role("button", name="Erase").click()
        page.get_by_role("dialog").get_by_role("textbox").fill("asked for by its writer")
        page.get_by_role("dialog").get_by_role("button", name="Ask for the erasure").click()
        expect(page.get_by_role("link", name="letter.md")).to_have_count(0)
    command("erase", "--requested", "--yes")
    with story.seen_by("ann").at("ask") as opened_page:
        page = opened_page.page
        story.ask(page, OFFER)
        expect(page.get_by_text("nothing in the documents answers that question")).to_be_visible()
    with story.at("receipts") as opened_page:
        page = opened_page.page
        page.get_by_role("link", name="its words were erased").last.click()
        expect(page.get_by_text("The words of erased documents are gone")).to_be_visible()
        page.get_by_role("button", name="Verify").click()
        expect(page.get_by_text("Erased: 1.")).to_be_visible()
        expect(page.get_by_text("nine hundred")).to_have_count(0)
