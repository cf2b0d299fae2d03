"""Draw every page of a stack, light and dark, into docs/images: `python -m tests.screenshots`, or
`make screenshots`.

What is on the pictures is the small example that the page itself offers. The pictures are for
people to look at: no test compares them.
"""

import io
import re
import sys
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory

from PIL import Image
from playwright.sync_api import Page, expect

from tests.support.access import SECRET
from tests.support.chromium import browsing
from tests.support.own_page import PASSWORD, USER, WRITER, Visits
from tests.support.stack import running

IMAGES = Path(__file__).resolve().parents[1] / "docs/images"
SIZE = {"width": 1120, "height": 700}
PHONE = {"width": 390, "height": 760}
COLORS = 128
"""Of a picture: few enough for small files, enough for text that is smoothed."""
GROUNDS = 24
"""The commonest colours of a picture: page, panels, lines, badges, text."""
STEADY = 1_500
"""Milliseconds for what moves to come to rest."""
REBUILDING = 400_000


def keep(page: Page, name: str) -> None:
    """Draw the page as it is, in few colours."""
    page.mouse.move(1, 1)
    expect(page.get_by_text("Loading…")).to_have_count(0)
    page.wait_for_timeout(STEADY)
    picture = Image.open(io.BytesIO(page.screenshot(animations="disabled")))
    # Of the ways to choose colours, this one forgets none that stands on a few points only, as
    # those of a legend do.
    palette_picture = picture.convert("RGB").quantize(
        COLORS, Image.Quantize.MAXCOVERAGE, dither=Image.Dither.NONE
    )
    palette_picture.putpalette(true_palette(picture.convert("RGB"), palette_picture))
    palette_picture.save(IMAGES / f"{name}.png", optimize=True)


def true_palette(picture: Image.Image, palette_picture: Image.Image) -> list[int]:
    """Return the palette with the commonest colours as they are: few colours would tint the ground
    of a page.
    """
    palette = palette_picture.getpalette() or []
    pairs = Counter(
        zip(picture.get_flattened_data(), palette_picture.get_flattened_data(), strict=True)
    )
    for (color, index), _ in reversed(pairs.most_common(GROUNDS)):
        palette[3 * index : 3 * index + 3] = color
    return palette


def ask(page: Page) -> None:
    page.get_by_role("textbox", name="Question").fill("Who leads the Harbour Office?")
    page.keyboard.press("Enter")
    expect(page.get_by_text("Ada Marsh leads the Harbour Office").first).to_be_visible()
    page.get_by_role("button", name="Evidence").click()
    expect(page.get_by_text("How it was found")).to_be_visible()
    page.get_by_role("heading", name="Ask").scroll_into_view_if_needed()


def graph(page: Page) -> None:
    page.get_by_role("combobox", name="Find an entity").fill("Ada M")
    page.get_by_role("option", name="Ada Marsh").click()
    expect(page.get_by_role("complementary", name="Ada Marsh")).to_be_visible()


def changes(page: Page) -> None:
    page.get_by_role("slider").last.focus()
    page.keyboard.press("Home")
    for _ in range(3):
        page.keyboard.press("PageUp")
    page.get_by_role("button", name="What has changed since").click()
    expect(page.get_by_role("status").filter(has_text=re.compile("New [0-9]"))).to_be_visible()


def document(page: Page) -> None:
    page.get_by_role("link", name="harbour-office.md").click()
    expect(page.get_by_role("heading", name="harbour-office.md")).to_be_visible()


def history(page: Page) -> None:
    document(page)
    page.get_by_role("tab", name="History").click()
    page.get_by_role("button", name=re.compile("EntitiesExtracted")).first.click()


def tab(name: str) -> Callable[[Page], None]:
    return lambda page: page.get_by_role("tab", name=name).click()


def models(page: Page) -> None:
    """Only what begins with LLM: other settings show paths of the machine that draws."""
    page.get_by_role("tab", name="Settings").click()
    page.get_by_role("textbox", name="Find a setting").fill("LLM_")


def nothing(_: Page) -> None:
    """The page as it opens."""


VIEWS: dict[str, tuple[str, Callable[[Page], None]]] = {
    "first-visit": ("empty/documents", nothing),
    "documents": ("default/documents", nothing),
    "document": ("default/documents", document),
    "document-history": ("default/documents", history),
    "ask": ("default/ask", ask),
    "graph": ("default/graph", graph),
    "changes": ("default/graph", changes),
    "log": ("default/log", nothing),
    "health": ("default/operations", nothing),
    "operations": ("default/operations", tab("Projections")),
    "costs": ("default/operations", tab("Costs")),
    "webhooks": ("default/operations", tab("Webhooks")),
    "settings": ("default/operations", models),
}
"""By the name of its picture: the place behind the `#`, and what is done there."""


def prepare(visits: Visits) -> None:
    """Add the example, and rebuild the graph beside the one that answers."""
    with visits.to("default/documents") as visit:
        page = visit.page
        page.get_by_role("button", name="Add a small example").click()
        expect(page.get_by_role("button", name="Ready 3")).to_be_visible()
        page.get_by_role("link", name="Operations").click()
        page.get_by_role("tab", name="Projections").click()
        page.get_by_role("button", name=re.compile("What$")).click()
        page.get_by_role("option", name="Graph").click()
        page.get_by_role("button", name="Start").click()
        expect(page.get_by_text("the same as live")).to_be_visible(timeout=REBUILDING)
        page.get_by_role("button", name="Count and digest default").click()
        expect(page.get_by_text("Workspace default")).to_be_visible(timeout=REBUILDING)
        expect(page.get_by_text(re.compile("entities [0-9]")).first).to_be_visible()


def sign_in(visits: Visits, scheme: str) -> None:
    context = visits.browser.new_context(viewport=SIZE, color_scheme="dark" if scheme else "light")
    page = context.new_page()
    page.goto(f"{visits.api}/ui/")
    expect(page.get_by_label("User name")).to_be_visible()
    keep(page, f"web-page-sign-in{scheme}")
    context.close()


def draw(visits: Visits, names: list[str]) -> None:
    """Draw the views of these names."""
    for scheme in ("", "-dark"):
        colors = {"color_scheme": "dark" if scheme else "light"}
        sign_in(visits, scheme)
        for name in names:
            place, act = VIEWS[name]
            with visits.to(place, **colors) as visit:
                visit.page.set_viewport_size(SIZE)
                visit.page.get_by_role("main").wait_for()
                act(visit.page)
                keep(visit.page, f"web-page-{name}{scheme}")
        with visits.to("default/documents", **colors) as visit:
            visit.page.set_viewport_size(PHONE)
            expect(visit.page.get_by_role("link", name="ferry.md")).to_be_visible()
            keep(visit.page, f"web-page-phone{scheme}")


def main(names: list[str]) -> None:
    IMAGES.mkdir(exist_ok=True)
    env = {
        "AUTH_ACCOUNTS": f"{USER}:{PASSWORD}",
        "TOKEN_SECRET": SECRET,
        "LIGHTSTREAM_API_KEYS": f"writer:{WRITER}:*:write",
    }
    with (
        TemporaryDirectory() as folder,
        running(Path(folder) / "data", **env) as stack,
        browsing() as browser,
    ):
        visits = Visits(browser, stack.state.api)
        prepare(visits)
        draw(visits, names or list(VIEWS))


if __name__ == "__main__":
    main(sys.argv[1:])
