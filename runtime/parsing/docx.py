"""Word documents to Markdown: headings, lists, tables and notes in their order. It runs in the
sandbox only.

Read from the XML, because no light library reads all of it: of 38 features with text mammoth 1.13
reads 17 as people see them, docx2python 3.7 15 (`tests/support/word_files.py` has them).
"""

import re
from collections.abc import Iterator

from runtime.parsing.content import Content, joined
from runtime.parsing.docx_numbering import Numbering
from runtime.parsing.docx_story import Story
from runtime.parsing.docx_styles import Styles
from runtime.parsing.figures import Figures
from runtime.parsing.office_parts import OfficeParts, local
from runtime.parsing.omissions import MACROS, Omissions
from runtime.parsing.package import DAMAGE, check, damaged

WHAT = "a Word document"
_LETTER = re.compile(r"[^\W\d_]")


def text(data: bytes) -> Content:
    """Return the document as Markdown: changes as if accepted, headers and footers behind the text.

    Raises InvalidInput for a damaged file, a zip bomb and one without text.
    """
    check(data, WHAT)
    omissions = Omissions()
    figures = Figures(omissions)
    try:
        return joined(_blocks(OfficeParts(data), omissions, figures), omissions, figures)
    except DAMAGE:
        raise damaged(WHAT) from None


def _blocks(parts: OfficeParts, omissions: Omissions, figures: Figures) -> Iterator[str]:
    if parts.has_macros():
        omissions.note(MACROS)
    main = parts.main()
    root = parts.xml(main)
    if local(root) != "document":
        raise LookupError("no Word document")
    kinds = {
        relationship.kind: relationship.path for relationship in parts.relationships(main).values()
    }
    styles = Styles(parts.xml(kinds["styles"]) if "styles" in kinds else None)
    numbering = Numbering(parts.xml(kinds["numbering"]) if "numbering" in kinds else None)
    story = Story(parts, main, styles, numbering, omissions, figures)
    yield from story.blocks(root)
    yield from story.comments_elsewhere()
    seen_words: set[str] = set()
    for kind, path in sorted(set(parts.relationships(main).values())):
        if kind in ("header", "footer"):
            words = " ".join(
                Story(parts, path, styles, numbering, omissions).blocks(parts.xml(path))
            )
            if _LETTER.search(words) and words not in seen_words:
                seen_words.add(words)
                yield f"{kind.capitalize()}: {words}"
