"""OpenDocument presentations to Markdown: slides with tables and notes. It runs in the sandbox
only.
"""

from collections.abc import Iterator
from xml.etree.ElementTree import Element

from runtime.errors import InvalidInput
from runtime.parsing.content import Content, paged
from runtime.parsing.figures import Figures
from runtime.parsing.odf import OdfDocument, opened
from runtime.parsing.office_parts import attribute, child, local
from runtime.parsing.omissions import HIDDEN_SLIDE, Omissions
from runtime.parsing.package import DAMAGE, damaged

WHAT = "an OpenDocument presentation"


def text(data: bytes) -> Content:
    """Return the slides in their order; `pages` says where each begins. A hidden slide is read, and
    called hidden.

    Raises InvalidInput for a damaged or protected file, a zip bomb and one without text.
    """
    omissions = Omissions()
    figures = Figures(omissions)
    try:
        document = opened(data, "presentation", WHAT, omissions, figures)
        slides = [page for page in document.body if local(page) == "page"]
        texts = (
            _slide(place, page, document, omissions) for place, page in enumerate(slides, start=1)
        )
        content = paged(texts, omissions, figures)
    except DAMAGE:
        raise damaged(WHAT) from None
    if not content.text:
        raise InvalidInput("has no text in it (pictures only?): add the text as a file")
    return content


def _slide(place: int, slide: Element, document: OdfDocument, omissions: Omissions) -> str:
    """Return the text of a slide; empty when it has none, for its number alone says nothing."""
    titles = [
        title_element for title_element in slide if attribute(title_element, "class") == "title"
    ]
    title = " ".join(document.story.on_one_line(title_element) for title_element in titles).strip()
    texts = [child for child in slide if child not in titles and local(child) != "notes"]
    blocks = [block for text_element in texts for block in _blocks(text_element, document) if block]
    if notes := _notes(child(slide, "notes"), document):
        blocks.append(f"Notes: {notes}")
    if not title and not blocks:
        return ""
    is_hidden = attribute(slide, "style-name") in document.hidden_style_names
    omissions.add(HIDDEN_SLIDE, int(is_hidden))
    hidden_note = " (hidden)" if is_hidden else ""
    return "\n\n".join([f"## Slide {place}{hidden_note}{': ' * bool(title)}{title}", *blocks])


def _blocks(element: Element, document: OdfDocument) -> Iterator[str]:
    wrapper = Element("slide")
    wrapper.append(element)
    yield from document.story.blocks(wrapper)


def _notes(notes: Element | None, document: OdfDocument) -> str:
    """Return the speaker's notes, without the picture of the slide and the fields beside them."""
    frames = (
        [frame for frame in notes if attribute(frame, "class") == "notes"]
        if notes is not None
        else []
    )
    return " ".join(document.story.on_one_line(frame) for frame in frames).strip()
