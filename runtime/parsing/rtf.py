"""Rich Text Format to text. It runs in the sandbox only."""

import re
from typing import cast

from striprtf.striprtf import rtf_to_text  # pyright: ignore[reportUnknownVariableType]

from runtime.errors import InvalidInput
from runtime.parsing.content import Content, joined
from runtime.parsing.encodings import codec

_CODE_PAGE = re.compile(rb"\\ansicpg(\d{1,5})")
_BEGINNING = b"{\\rtf"


def text(data: bytes) -> Content:
    """Return the text, a line for each paragraph. Raises InvalidInput for a file that is damaged or has none."""
    if not data.lstrip(b"\xef\xbb\xbf \r\n\t").startswith(_BEGINNING):
        raise _damaged()
    code_page = _CODE_PAGE.search(data[:4096])
    encoding = (codec(f"cp{code_page[1].decode()}") if code_page else None) or "cp1252"
    try:
        plain = cast(str, rtf_to_text(data.decode(encoding, "replace"), encoding, "replace"))
    except (ValueError, LookupError, OverflowError, TypeError):
        raise _damaged() from None
    # Characters beyond the first plane stand there as two halves.
    plain = plain.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return joined([plain.strip()])


def _damaged() -> InvalidInput:
    return InvalidInput("damaged, or not Rich Text Format: open it in the program that made it and save it anew")
