"""Names of encodings: what people and files call them, and the codec that reads what is really
found under the name.
"""

import codecs
import re
from typing import NamedTuple

from runtime.errors import InvalidInput


class Encoding(NamedTuple):
    """The encoding a text was read in, and how sure that is."""

    name: str
    """As IANA registers it: `windows-1252`."""
    confidence: float
    """1 for what was asked for, marked or valid UTF-8; below `SURE` somebody should look at the
    text.
    """
    is_damaged: bool = False
    """Whether bytes were replaced because the encoding has no character for them."""

    @property
    def warning(self) -> str:
        """A warning for whoever added the file; empty where nothing is in doubt."""
        if self.is_damaged:
            return (
                f"some bytes are no {self.name} and were replaced: check the text, or "
                f"{SAY_ENCODING}"
            )
        if self.confidence >= SURE:
            return ""
        return (
            f"read as {self.name}, which is a guess (confidence {self.confidence:.2f}): check it, "
            f"or {SAY_ENCODING}"
        )


class Hint(NamedTuple):
    """What is known of a text's encoding before its bytes are looked at."""

    requested_encoding: str = ""
    """What whoever adds the text says it is in. It decides."""
    declared_encoding: str = ""
    """What came with it, as the `charset` of a Content-Type. It is believed where the bytes fit."""


NO_HINT = Hint()

SAY_ENCODING = "say its encoding"
"""The way out in a warning about an encoding."""

SURE = 0.5
"""The confidence below which a guess comes with a warning."""

_SUPERSETS = {
    "ascii": "cp1252",
    "iso8859-1": "cp1252",
    "iso8859-9": "cp1254",
    "iso8859-11": "cp874",
    "tis-620": "cp874",
    "shift_jis": "cp932",
    "gb2312": "gb18030",
    "gbk": "gb18030",
    "euc_kr": "cp949",
    "big5": "big5hkscs",
    "cp950": "big5hkscs",
}
"""The WHATWG Encoding Standard reads these names as those supersets, for that is what files with
them hold.
"""

_REGISTERED = {
    "utf_8_sig": "utf-8",
    "gb18030": "gb18030",
    "big5": "big5",
    "big5hkscs": "big5-hkscs",
    "cp932": "shift_jis",
    "cp949": "euc-kr",
    "euc_kr": "euc-kr",
    "euc_jp": "euc-jp",
    "cp866": "ibm866",
    "cp874": "windows-874",
    "mac_roman": "macintosh",
    "iso2022_jp": "iso-2022-jp",
    "iso2022_jp_2": "iso-2022-jp-2",
}

_OTHER_NAMES = {
    "ansinew": "cp1252",
    "ansi": "cp1252",
    "applemac": "mac_roman",
    "latin9": "iso8859-15",
    "x-sjis": "cp932",
    "windows-874": "cp874",
}
_NO_ENCODINGS = {"rot_13", "idna", "punycode", "unicode_escape", "raw_unicode_escape", "undefined"}
"""Codecs of Python that are no encodings of files."""


def codec(name: str) -> str | None:
    """Return Python's name of the codec for an encoding people name; None for what is no encoding
    of text.
    """
    plain_name = name.strip().strip("\"'").lower().removeprefix("x-user-")
    if not plain_name.isascii() or "\0" in plain_name or len(plain_name) > 40:
        return None
    try:
        canonical = codecs.lookup(_OTHER_NAMES.get(plain_name, plain_name)).name
    except LookupError:
        return None
    return (
        canonical
        if canonical.replace("-", "_") not in _NO_ENCODINGS and _is_of_text(canonical)
        else None
    )


def _is_of_text(name: str) -> bool:
    try:
        b"x".decode(name)
    except LookupError:  # of bytes to bytes, as base64
        return False
    except ValueError:  # a single byte need not be a whole character
        return True
    return True


def superset(name: str) -> str:
    """Return the codec that reads all that this one reads, and what is found in files that claim to
    be in it.
    """
    return _SUPERSETS.get(name, name)


def registered(name: str) -> str:
    """Return the name IANA has for a codec of Python."""
    plain_name = codecs.lookup(name).name.replace("-", "_")
    if windows := re.fullmatch(r"cp(125\d)", plain_name):
        return f"windows-{windows[1]}"
    if iso := re.fullmatch(r"iso8859_(\d+)", plain_name):
        return f"iso-8859-{iso[1]}"
    return _REGISTERED.get(plain_name, plain_name.replace("_", "-"))


def validated_encoding(name: str) -> str:
    """Return the encoding a user asks for, as a codec of Python. Raises InvalidInput for an unknown
    one.
    """
    canonical = codec(name)
    if canonical is None:
        printable = "".join(
            character if character.isprintable() else "?" for character in name[:40]
        )
        raise InvalidInput(
            f"{printable!r} is no encoding that is known: give one like utf-8, windows-1252, "
            "iso-8859-2, koi8-r, shift_jis, gb18030, or none to have it detected"
        )
    return canonical
