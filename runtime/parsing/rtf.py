"""Rich Text Format to text. It runs in the sandbox only."""

import re
from collections.abc import Iterator
from typing import cast

from striprtf.striprtf import rtf_to_text  # pyright: ignore[reportUnknownVariableType]

from runtime.errors import InvalidInput
from runtime.parsing.content import Content, joined
from runtime.parsing.encodings import codec
from runtime.parsing.omissions import Omissions
from runtime.parsing.rtf_groups import Groups

_CODE_PAGE = re.compile(rb"\\ansicpg(\d{1,5})")
_FONTS = re.compile(r"\{\\fonttbl(?:[^{}]|\{[^{}]*\}){0,5000}\}")
_BEGINNING = b"{\\rtf"


def text(data: bytes) -> Content:
    """Return the text, a line for each paragraph; behind it notes, comments, text boxes, headers
    and footers.

    Raises InvalidInput for a file that is damaged or has no text.
    """
    if not data.lstrip(b"\xef\xbb\xbf \r\n\t").startswith(_BEGINNING):
        raise _damaged()
    code_page = _CODE_PAGE.search(data[:4096])
    encoding = (codec(f"cp{code_page[1].decode()}") if code_page else None) or "cp1252"
    # In one-byte letters first, so that lengths of binary data count bytes.
    source = data.decode("latin-1")
    omissions = Omissions()
    try:
        return joined(_blocks(source, encoding, omissions), omissions)
    except (ValueError, LookupError, OverflowError, TypeError):
        raise _damaged() from None


def _blocks(source: str, encoding: str, omissions: Omissions) -> Iterator[str]:
    groups = Groups(source, omissions)
    yield _plain(groups.text, encoding).strip()
    fonts = _FONTS.search(source)
    beginning = f"{{\\rtf1\\ansi{fonts[0] if fonts else ''}"
    seen_lines: set[str] = set()
    for name, markup in groups.asides:
        words = " ".join(_plain(f"{beginning}{markup}}}", encoding).split())
        line = f"{name}: {words}" if name else words
        if any(map(str.isalpha, words)) and line not in seen_lines:
            seen_lines.add(line)
            yield line


def _plain(markup: str, encoding: str) -> str:
    markup = markup.encode("latin-1").decode(encoding, "replace")
    plain_text = cast(str, rtf_to_text(markup, encoding, "replace"))
    # Characters beyond the first plane stand there as two halves.
    return plain_text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def _damaged() -> InvalidInput:
    return InvalidInput(
        "damaged, or not Rich Text Format: open it in the program that made it and save it anew"
    )
