"""Names of documents from outside: shown and stored, never used as a path."""

import unicodedata

from contracts.text import is_on_one_line
from runtime.errors import InvalidInput

MAX_PART = 255
MAX_NAME = 1024
"""Bytes of UTF-8: of one part between slashes, and of the whole name."""

_UNSEEN = {"Cc", "Cf", "Cn", "Co", "Cs", "Zl", "Zp"}
"""Categories of Unicode whose characters are not seen, or break a line."""


def validated_name(name: str) -> str:
    """Return the name of a document, wherever it comes from; it need not be that of a file.

    Raises InvalidInput for one that is not on one line: with control characters, line breaks, marks
    that turn the direction of writing or bytes that are not UTF-8; and for one that is too long.
    """
    if not is_on_one_line(name):
        raise InvalidInput(
            f"{printable_name(name)}: not the name of a document: give one in UTF-8 on one line, "
            "without control characters and marks of direction"
        )
    if len(name.encode()) > MAX_NAME:
        raise InvalidInput(
            f"{printable_name(name)}: the name is too long: give one of at most {MAX_NAME} bytes"
        )
    return name


def validated_text(name: str) -> str:
    """Return the name of a file, if it is one: parts joined by `/`, each of them a plain file name.

    Raises InvalidInput for what `checked_name` refuses, for a name that climbs (`..`) or begins at
    a root, and for one with backslashes.
    """
    parts = name.split("/")
    if not is_on_one_line(name) or "\\" in name or not {"", ".", ".."}.isdisjoint(parts):
        raise InvalidInput(
            f"{printable_name(name)}: not a plain file name: give one in UTF-8, "
            "without backslashes, control characters, '..' and a leading '/'"
        )
    if len(name.encode()) > MAX_NAME or any(len(part.encode()) > MAX_PART for part in parts):
        raise InvalidInput(
            f"{printable_name(name)}: the name is too long: give one of at most {MAX_PART} bytes"
        )
    return name


def printable_name(name: str) -> str:
    """Return the name as a message may carry it: on one line, without invisible characters, of
    bounded length.
    """
    visible = "".join(
        "?" if unicodedata.category(character) in _UNSEEN else character for character in name
    )
    return visible if len(visible) <= MAX_NAME else f"{visible[:80]}…"
