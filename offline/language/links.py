"""Links in Markdown and cross references of Sphinx: their words, without addresses and roles, and
without those that are only marks, as the number of a footnote or the word that opens an editor.
"""

import re

_ADDRESS = r"\((?:[^()\s]|\([^()\s]*\))*(?:\s+\"[^\"\n]*\")?\s*\)"
"""An address, which may have pairs of parentheses in it, and a title after it."""
MARK = rf"\[\*?\[[^\[\]\n]{{1,24}}\](?:\]{_ADDRESS}|{_ADDRESS}\*?\])"
"""As `[[4]](#note-4)`, `[[edit](/edit/History)]` and `[*[citation needed](/needed)*]`."""
_LEFT_OUT = re.compile(rf"{MARK}| ?[{{:][a-z]{{1,12}}[}}:]`#?\d+`", re.IGNORECASE)
"""Marks, and references to issues by number."""
_LINK = re.compile(rf"!?\[([^\[\]\n]*)\]{_ADDRESS}")
_ROLE = re.compile(r"(?:\{[a-z][a-z:]*\}|(?<!\w):[a-z][a-z:]*:)`([^`\n]+)`", re.IGNORECASE)


def without_addresses(text: str) -> str:
    """Return a text with the words of its links alone. Time is linear in the text."""
    if "](" not in text and "`" not in text:
        return text
    return _ROLE.sub(r"\1", _LINK.sub(r"\1", _LEFT_OUT.sub("", text)))
