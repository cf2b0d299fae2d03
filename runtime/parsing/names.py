"""Names of files from outside: shown and stored, never used as a path."""

import unicodedata

from runtime.errors import InvalidInput

MAX_PART, MAX_NAME = 255, 1024
"""Bytes of UTF-8: of one part between slashes, and of the whole name."""


def checked(name: str) -> str:
    """The name, if it is one: parts joined by `/`, each of them a plain file name.

    Raises InvalidInput for a name that climbs (`..`) or begins at a root, for one with backslashes, control characters
    or bytes that are not UTF-8, and for one that is too long.
    """
    parts = name.split("/")
    # NUL and line breaks are of category Cc; bytes that are not UTF-8 come as surrogates, Cs.
    odd = any(unicodedata.category(character) in {"Cc", "Cs"} or character == "\\" for character in name)
    if odd or not {"", ".", ".."}.isdisjoint(parts):
        raise InvalidInput(
            f"{shown(name)}: not a plain file name: give one in UTF-8, without backslashes, control characters, '..' "
            "and a leading '/'"
        )
    if len(name.encode()) > MAX_NAME or any(len(part.encode()) > MAX_PART for part in parts):
        raise InvalidInput(f"{shown(name)}: the name is too long: give one of at most {MAX_PART} bytes")
    return name


def shown(name: str) -> str:
    """The name as a message may carry it: on one line, without invisible characters, of bounded length."""
    visible = "".join("?" if unicodedata.category(character)[0] == "C" else character for character in name)
    return visible if len(visible) <= MAX_NAME else f"{visible[:80]}…"
