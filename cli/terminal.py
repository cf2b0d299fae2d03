"""Text of documents, models and other machines, made safe for a terminal: control characters are
spelled out.
"""

import json
import re
from typing import Any

_ACTS = "\x00-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069\ud800-\udfff"
_IN_LINES = re.compile(f"[{_ACTS}]")
_IN_A_LINE = re.compile(f"[{_ACTS}\n\t]")
_NAMED = {"\n": "\\n", "\r": "\\r", "\t": "\\t"}


def lines(text: str) -> str:
    """A text of several lines, with control characters and marks of direction spelled out: ESC is
    `\\x1b`.
    """
    return _IN_LINES.sub(_spelled, text.replace("\r\n", "\n"))


def line(text: Any) -> str:
    """A value that stays on its line: line breaks and tabs are spelled out too."""
    return _IN_A_LINE.sub(_spelled, str(text))


def counted(number: int, noun: str, plural: str = "") -> str:
    """A number with its noun, which ends in `s` for more than one unless the plural is named."""
    return f"{number:,} {noun if number == 1 else plural or f'{noun}s'}"


def as_json(value: Any, *, indent: int | None = 2) -> str:
    """JSON that is safe to show: what acts is escaped as JSON does, and reads as the same value."""
    text = json.dumps(value, ensure_ascii=False, indent=indent, default=str)
    # json escapes those below the blank itself, so that what is left stands inside of strings.
    return _IN_LINES.sub(lambda match: f"\\u{ord(match[0]):04x}", text)


def _spelled(match: re.Match[str]) -> str:
    character = match[0]
    code = ord(character)
    return _NAMED.get(character) or (f"\\x{code:02x}" if code < 256 else f"\\u{code:04x}")
