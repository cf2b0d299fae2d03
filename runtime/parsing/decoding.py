"""Bytes to text when nobody says which encoding: order of certainty, and no guess for binary data."""

import codecs

from charset_normalizer import from_bytes

from runtime.errors import InvalidInput

_MARKS = (
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF32_LE, "utf-32"),  # before UTF-16, whose mark it begins with
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)

_GUESSED = [
    "gb18030", "big5", "cp932", "euc_jp", "euc_kr", "koi8_r", "cp1251", "cp1252", "cp1250", "cp1253", "cp1255", "cp1256"
]  # fmt: skip

SAMPLE = 256 * 1024
"""Bytes the guess looks at; the encoding it finds must then fit the whole."""

BINARY = "binary data, not text in any known encoding"


def decode(data: bytes) -> str:
    """The text: by its byte order mark, else strict UTF-8, else by statistics. Raises InvalidInput for binary data."""
    for mark, encoding in _MARKS:
        if data.startswith(mark):
            return _strictly(data, encoding)
    if b"\0" in data:
        return _strictly(data, _wide(data))
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError:
        best = from_bytes(data[:SAMPLE], cp_isolation=_GUESSED).best()
    if best is None:
        raise InvalidInput(BINARY)
    # The sample may end inside of a character, and rare bytes behind it need not make the rest unreadable.
    return data.decode(best.encoding, "replace")


def _strictly(data: bytes, encoding: str) -> str:
    try:
        text = data.decode(encoding)
    except UnicodeDecodeError:
        raise InvalidInput(BINARY) from None
    if "\0" in text:
        raise InvalidInput(BINARY)
    return text


def _wide(data: bytes) -> str:
    """UTF-16 without a mark has its zero bytes nearly all at odd places (little endian) or at even ones."""
    sample = data[:SAMPLE]
    even, odd = sample[::2].count(0), sample[1::2].count(0)
    if max(even, odd) < len(sample) / 8 or min(even, odd) > max(even, odd) / 8:
        raise InvalidInput(BINARY)
    return "utf-16-le" if odd > even else "utf-16-be"
