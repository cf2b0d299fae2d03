"""OpenDocument texts to Markdown: headings, lists, tables and notes in their order. It runs in the
sandbox only.

Read from the XML: odfdo 3.27 leaves out headers, footers, charts and comments, and what it leaves
out nobody counts.
"""

from collections.abc import Iterator

from runtime.parsing.content import Content, joined
from runtime.parsing.figures import Figures
from runtime.parsing.odf import OdfDocument, headers_and_footers, opened
from runtime.parsing.omissions import Omissions
from runtime.parsing.package import DAMAGE, damaged

WHAT = "an OpenDocument text"


def text(data: bytes) -> Content:
    """Return the document as Markdown: changes as if accepted, headers and footers behind the text.

    Raises InvalidInput for a damaged or protected file, a zip bomb, no text.
    """
    omissions = Omissions()
    figures = Figures(omissions)
    try:
        document = opened(data, "text", WHAT, omissions, figures)
        return joined(_blocks(document), omissions, figures)
    except DAMAGE:
        raise damaged(WHAT) from None


def _blocks(document: OdfDocument) -> Iterator[str]:
    yield from document.story.blocks(document.body)
    yield from headers_and_footers(document)
