"""Text files as other programs left them: with codes for a terminal, or lines that end in CR."""

import re

_TERMINAL = re.compile(
    # Colours and places, titles of windows, sets of characters, other codes, and letters that are
    # struck over.
    r"\x1b\[[0-?]{0,64}[ -/]{0,8}[@-~]|\x1b\][^\x07\x1b\n]{0,2000}(?:\x07|\x1b\\)"
    r"|\x1b[ -/]{1,3}[0-~]|\x1b[@-Z\\^_]|[^\n\x08]\x08"
)


def plain(text: str) -> str:
    """Return the text as a terminal shows it, its lines ended by LF where they all ended in CR."""
    if "\x1b" in text or "\x08" in text:
        text = _TERMINAL.sub("", text)
    return text if "\n" in text else text.replace("\r", "\n")
