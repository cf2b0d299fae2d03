"""What the page of a document in Markdown does not show: comments, tags of templates, where names
of links lead, marks of quoted blocks and of lines that end early, backslashes before numbers.

CommonMark 0.31: 4.6, 4.7, 5.1. Time is linear in the text.
"""

import re
from collections.abc import Iterator

_DEFINITION = re.compile(
    r"^[ ]{0,3}\[(?!\^)[^\[\]\n]{1,200}\]:[ \t]+\S+"
    r"(?:[ \t]+(?:\"[^\"\n]*\"|'[^'\n]*'|\([^()\n]*\)))?[ \t]*$",
    re.MULTILINE,
)
"""Where the name of a link leads: `[guide]: https://example.org "Title"`; not a footnote."""
_QUOTED = re.compile(r"^[ \t]*(?!>>> )(?:>[ \t]?)+", re.MULTILINE)
"""The marks of a quoted block, and not the prompt of an interpreter."""
_LINE_BREAK = re.compile(r"<br[ \t]*/?>", re.IGNORECASE)
_TEMPLATE = re.compile(r"\{%[^%{}]{1,500}%\}")
"""A tag of Jinja, Jekyll or Liquid: `{% include note.html %}`."""
_ESCAPED_NUMBER = re.compile(r"^([ \t]*\d{1,4})\\(?=[.)])", re.MULTILINE)
"""`4\\.`: a number that begins no item."""
_OPENING, _CLOSING = "<!--", "-->"


def without_hidden_markup(text: str) -> str:
    """Return the text without what its page does not show."""
    if _OPENING in text:
        text = "".join(_outside_comments(text))
    if "{%" in text:
        text = _TEMPLATE.sub("", text)
    if "\\" in text:
        text = _ESCAPED_NUMBER.sub(r"\1", text)
    if "]:" in text:
        text = _DEFINITION.sub("", text)
    if ">" in text:
        text = _LINE_BREAK.sub(" ", _QUOTED.sub("", text))
    return text


def _outside_comments(text: str) -> Iterator[str]:
    """Yield what stands outside of comments; one that does not end, or that begins a piece of code
    in a sentence, is none.
    """
    before, *parts = text.split(_OPENING)
    yield before
    for part in parts:
        _, mark, rest = part.partition(_CLOSING)
        is_comment = mark and not before.endswith("`")
        yield rest if is_comment else f"{_OPENING}{part}"
        before = part
