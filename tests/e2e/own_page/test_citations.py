"""A citation marks what it is cited for, in the passage and in its document; texts are shown as
what they are.
"""

import re

import pytest
from playwright.sync_api import Page, expect

from tests.support.own_page import OwnPage, Visits

FILLING = "".join(
    f"In week {week} the office counted {week * 7} barrels of tar and wrote them down.\n\n"
    for week in range(1, 60)
)
SENTENCE = "Ada Marsh leads the Harbour Office."
TEXTS = {
    "harbour.md": (
        f"# Notes\n\nSee [the manual](../docs/manual.md) and [the town](https://example.org/).\n\n"
        f"{FILLING}## People\n\n{SENTENCE} She lives in Port Elm.\n\n"
        "| ship | tons |\n| --- | --- |\n| Elm Star | 12 |\n| Oak Queen | 90 |\n"
    ),
    "plain.txt": "Ben Holt keeps the *old* lighthouse.\nHe paints it every year.\n",
}
GROWING = """() => {
  const original = window.fetch;
  window.fetch = (url, options) => {
    if (!String(url).endsWith("/query/stream")) return original(url, options);
    const line = (value) => new TextEncoder().encode(JSON.stringify(value) + "\\n");
    let count = 0;
    const body = new ReadableStream({
      async pull(controller) {
        await new Promise((resolve) => requestAnimationFrame(resolve));
        if (window.ended) return controller.close();
        if (window.held) return controller.enqueue(line({}));
        count += 1;
        controller.enqueue(line({ response: `Line ${count} of the answer.\\n\\n` }));
        window.held = count % 60 === 0;
      },
    });
    return Promise.resolve(new Response(body));
  };
}"""
"""Answers a question with sixty lines, and with sixty more each time that `held` becomes false,
until `ended`.
"""
TO_END = """() => {
  const page = document.documentElement;
  return page.scrollHeight - page.clientHeight - page.scrollTop;
}"""


@pytest.fixture(scope="module")
def cited(visits: Visits) -> str:
    """A workspace with a long document whose people stand at its end."""
    visits.add("cited", TEXTS)
    with visits.to("cited/documents") as opened_page:
        expect(opened_page.page.get_by_role("button", name="Ready 2")).to_be_visible()
    return "cited"


def ask(page: Page, question: str) -> None:
    page.get_by_role("textbox", name="Question").fill(question)
    page.keyboard.press("Enter")
    expect(page.get_by_role("button", name="Copy as Markdown")).to_be_visible()


def fits(opened_page: OwnPage, width: int) -> None:
    opened_page.page.set_viewport_size({"width": width, "height": 800})
    assert opened_page.page.evaluate("document.documentElement.scrollWidth") <= width
    assert opened_page.serious() == []


def test_a_citation_marks_its_sentence_in_passage_and_document(cited: str, visits: Visits) -> None:
    with visits.to(f"{cited}/ask") as opened_page:
        page = opened_page.page
        ask(page, "Who leads the Harbour Office?")
        page.get_by_role("button", name="Source 1: harbour.md").first.click()
        marked_sentence = page.get_by_role("dialog").locator("mark", has_text=SENTENCE)
        expect(marked_sentence).to_be_in_viewport()
        for width in (1280, 400):
            fits(opened_page, width)
        page.get_by_role("dialog").locator("li", has=page.locator("mark")).get_by_role(
            "link", name="Show it in the document"
        ).click()
        expect(page.locator(".chunk.cited mark", has_text=SENTENCE)).to_be_in_viewport()
        for width in (1280, 400):
            fits(opened_page, width)


def test_numbers_begin_with_one_and_name_the_sources_below(cited: str, visits: Visits) -> None:
    with visits.to(f"{cited}/ask") as opened_page:
        page = opened_page.page
        ask(page, "Who keeps the old lighthouse?")
        numbers = page.locator(".turn .cite").all_inner_texts()
        assert list(dict.fromkeys(numbers)) == [str(n + 1) for n in range(len(set(numbers)))]
        sources = page.get_by_role("list", name="Sources").get_by_role("listitem")
        first = page.locator(".turn .cite").first.get_attribute("title")
        expect(sources.first).to_have_text(re.compile(rf"^\s*1 · {first}"))


def test_a_document_is_shown_as_what_it_is(cited: str, visits: Visits) -> None:
    with visits.to(f"{cited}/documents") as opened_page:
        page = opened_page.page
        page.get_by_role("link", name="harbour.md").click()
        expect(page.get_by_role("cell", name="Oak Queen").first).to_be_visible()
        expect(page.get_by_role("link", name="the town")).to_be_visible()
        expect(page.get_by_text("the manual").first).to_be_visible()
        assert page.get_by_role("link", name="the manual").count() == 0
        page.get_by_role("button", name="Raw text").click()
        expect(page.get_by_text("| Oak Queen | 90 |").first).to_be_visible()
        page.get_by_role("main").get_by_role("link", name="Documents").click()
        page.get_by_role("link", name="plain.txt").click()
        expect(page.get_by_text("the *old* lighthouse.")).to_be_visible()


def test_the_page_follows_a_growing_answer_until_somebody_scrolls_away(
    cited: str, visits: Visits
) -> None:
    with visits.to(f"{cited}/ask") as opened_page:
        page = opened_page.page
        page.evaluate(GROWING)
        page.get_by_role("textbox", name="Question").fill("What is in the answer?")
        page.keyboard.press("Enter")
        expect(page.get_by_text("Line 60 of the answer.")).to_be_in_viewport()
        assert page.evaluate(TO_END) < 2
        page.mouse.move(600, 300)
        page.mouse.wheel(0, -600)
        page.wait_for_function(f"({TO_END})() > 500")
        page.evaluate("window.held = false")
        expect(page.get_by_text("Line 120 of the answer.")).to_be_attached()
        expect(page.get_by_text("Line 120 of the answer.")).not_to_be_in_viewport()
        page.evaluate("window.ended = true")
        expect(page.get_by_role("button", name="Copy as Markdown")).to_be_attached()
        assert page.evaluate(TO_END) > 500
