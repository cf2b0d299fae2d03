"""Markdown with pictures inside of it (`![a lamp](data:image/png;base64,…)`): these become figures.
It runs in the sandbox only.
"""

import re

from runtime.parsing.content import Content, joined
from runtime.parsing.drawings import alternative_text
from runtime.parsing.figures import Figures, is_picture
from runtime.parsing.html import data_of_address
from runtime.parsing.omissions import Omissions

_PICTURE = re.compile(
    r"!\[([^\]\n]{0,300})\]\(\s{0,3}<?(data:image/[^\s\"'<>()]+)>?[^)\n]{0,300}\)"
)


def text(source: str) -> Content:
    """Return the text with its figures named."""
    omissions = Omissions()
    figures = Figures(omissions)

    def mark(match: re.Match[str]) -> str:
        words = alternative_text(match[1])
        data = data_of_address(match[2])
        # What is no picture stays, and is left out with all other binary data.
        return figures.place(data, words) if is_picture(data) else match[0]

    return joined([_PICTURE.sub(mark, source)], omissions, figures)
