"""What comes between: a document that fails and is tried again, a lost connection, a token that
ends.
"""

import asyncio
import hashlib
import re
import time
from pathlib import Path
from typing import Any

import jwt
import pytest
from playwright.sync_api import Route, expect

from contracts import subjects
from runtime.bus.encoded_text import EncodedText
from runtime.bus.nats.blobs import NatsBlobs
from runtime.bus.nats.connection import connected
from tests.support.access import SECRET
from tests.support.own_page import PASSWORD, USER, Visits, aside
from tests.support.pdf_files import pdf
from tests.support.raw_events import added, publish_added
from tests.support.stack import Stack

pytestmark = pytest.mark.nightly

MISSING = "Dora Lind is the captain of the Heron."


def test_a_pdf_is_watched_and_cited_by_page(visits: Visits, tmp_path: Path) -> None:
    paper = tmp_path / "paper.pdf"
    paper.write_bytes(pdf("Elin Brook leads the Ferry Office.", "Nothing stands here."))
    with visits.to("papers/documents") as opened_page:
        page = opened_page.page
        with page.expect_file_chooser() as chooser:
            page.get_by_role("button", name="Add files").click()
        chooser.value.set_files(paper)
        expect(
            page.get_by_role("row").filter(has_text="paper.pdf").get_by_text("Ready")
        ).to_be_visible()
        page.get_by_role("link", name="Ask", exact=True).click()
        page.get_by_role("textbox", name="Question").fill("Who leads the Ferry Office?")
        page.keyboard.press("Enter")
        page.get_by_role("button", name="Source 1: paper.pdf").first.click()
        expect(page.get_by_role("dialog").get_by_text("page 1")).to_be_visible()


@pytest.fixture
def unread(stack: Stack) -> str:
    """A workspace whose one document cannot be read, since its text is not there."""
    data = MISSING.encode()
    digest = hashlib.sha256(data).hexdigest()
    place = subjects.blob_place("mended", digest)
    blob = {"sha256": digest, "size": len(data), "parts": 1, "place": place}
    event = added(
        "unread", "mended", data={"document_id": "unread", "file_path": "captain.md", "blob": blob}
    )
    aside(lambda: publish_added(stack, event, "unread", "mended"))
    return "mended"


def test_a_dead_letter_is_tried_again_once_its_cause_is_mended(
    unread: str, stack: Stack, visits: Visits
) -> None:
    async def mend() -> None:
        async with connected(stack.settings.nats_url, name="test") as client:
            await NatsBlobs(client.jetstream()).put(EncodedText.of(MISSING), "mended")

    with visits.to(f"{unread}/documents") as opened_page:
        page = opened_page.page
        expect(page.get_by_role("button", name="Failed 1")).to_be_visible()
        page.get_by_role("link", name="Log", exact=True).click()
        page.get_by_role("tab", name="All events").click()
        letters = page.locator("section.letters")
        expect(letters.get_by_text("is not in KB_BLOBS")).to_be_visible()
        aside(lambda: asyncio.run(mend()))
        letters.get_by_role("button", name="Try again").click()
        expect(letters.get_by_text("None: everything could be handled.")).to_be_visible()
        page.get_by_role("link", name="Documents", exact=True).click()
        expect(page.get_by_role("button", name="Ready 1")).to_be_visible()


def test_what_was_begun_outlives_a_lost_connection(visits: Visits) -> None:
    visits.add("ferry", {"heron.md": "Dora Lind is the captain of the ferry Heron.\n"})
    with visits.to("ferry/documents") as opened_page:
        page = opened_page.page
        expect(page.get_by_role("button", name=re.compile("Ready [1-9]"))).to_be_visible()
        page.get_by_role("link", name="Log", exact=True).click()
        expect(page.get_by_role("listitem").filter(has_text="heron.md").first).to_be_visible()
        page.get_by_role("link", name="Ask", exact=True).click()
        question = page.get_by_role("textbox", name="Question")
        question.fill("Who is the captain of the Heron?")
        page.context.set_offline(True)
        page.keyboard.press("Enter")
        expect(page.get_by_text("No connection to the server.")).to_be_visible()
        page.get_by_role("link", name="Log", exact=True).click()
        visits.add("ferry", {"meanwhile.md": "Elin Brook came meanwhile.\n"})
        page.context.set_offline(False)
        expect(page.get_by_text("No connection to the server.")).to_be_hidden()
        expect(page.get_by_role("listitem").filter(has_text="meanwhile.md").first).to_be_visible()
        page.get_by_role("link", name="Ask", exact=True).click()
        expect(page.get_by_text("Who is the captain of the Heron?").first).to_be_visible()
        page.get_by_role("button", name="Try again").click()
        expect(page.get_by_role("button", name="Source 1: heron.md").first).to_be_visible()
        opened_page.faults = [
            fault for fault in opened_page.faults if "ERR_INTERNET_DISCONNECTED" not in fault
        ]


def test_a_token_that_ends_leads_back_to_where_one_was(visits: Visits) -> None:
    claims: dict[str, Any] = jwt.decode(visits.token, SECRET, algorithms=["HS256"])
    ended = jwt.encode({**claims, "exp": int(time.time()) - 1}, SECRET, "HS256")

    def late(route: Route) -> None:
        route.continue_(headers={**route.request.headers, "authorization": f"Bearer {ended}"})

    with visits.to("ferry/documents") as opened_page:
        page = opened_page.page
        page.get_by_role("button", name="Paste text").click()
        half = page.get_by_role("dialog").get_by_role("textbox", name="Text")
        half.fill("Half a sentence")
        page.route("**/*", late)
        expect(page.get_by_text("Your session has ended.")).to_be_visible()
        assert opened_page.serious() == []
        page.unroute("**/*")
        opened_page.sign_in(USER, PASSWORD)
        expect(page.get_by_text("Your session has ended.")).to_be_hidden()
        expect(half).to_have_value("Half a sentence")
        assert "#/ferry/documents" in page.url
        opened_page.faults.clear()  # 401, as it must be
