"""Bytes to text: in the encoding that is asked for, marked, declared or valid, else in the most
likely one.

Decision 38 says how the guess was measured.
"""

import codecs
import re
import unicodedata
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from io import BytesIO
from typing import NamedTuple

import chardet

from runtime.errors import InvalidInput
from runtime.parsing.encodings import Encoding, codec, registered, superset, validated_encoding

_MARKS = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF32_LE, "utf-32-le"),  # before UTF-16, whose mark it begins with
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)

CANDIDATES = (
    "cp1252",
    "cp1250",
    "iso8859-2",
    "cp1251",
    "koi8-r",
    "koi8-u",
    "iso8859-5",
    "cp866",
    "cp1253",
    "iso8859-7",
    "cp1254",
    "cp1255",
    "iso8859-8",
    "cp1256",
    "iso8859-6",
    "cp1257",
    "cp1258",
    "cp874",
    "cp932",
    "euc-jp",
    "gb18030",
    "big5",
    "euc-kr",
)
"""What files are found in. Old encodings of DOS and of the Macintosh would win short texts from
these, wrongly.
"""

SAMPLE = 32 * 1024
"""Bytes the guess looks at; the encoding it finds must then fit the whole."""

HEAD = 4096
"""Bytes in which a text declares its encoding."""

BINARY = "binary data, not text in any known encoding"

_DECLARED = re.compile(
    rb"\A\s*<\?xml[^>]{0,200}?encoding\s*=\s*[\"']([\w.:-]{2,40})"
    rb"|<meta[^>]{0,400}?charset\s*=\s*[\"']?\s*([\w.:-]{2,40})"
    rb"|\A@charset\s+\"([\w.:-]{2,40})\""
    rb"|\A(?:[^\n]*\n)?[ \t\f]*#.{0,100}?coding[:=][ \t]*([\w.-]{2,40})"
    rb"|\\usepackage\s*\[([\w.-]{2,40})\]\s*\{inputenc\}",
    re.IGNORECASE,
)
"""Declarations of XML, HTML, CSS, Python and editors, LaTeX."""

_PREFERRED = 0.8
"""The share of the best score at which cp1252 is taken instead: most files in a single-byte
encoding are in it.
"""

_CERTAIN = 0.2
"""The detector's score from which on it was hardly ever wrong in what was measured; its paragraphs
have 0.3 to 1.
"""

_ENOUGH = 4
_ENOUGH_WIDE = 12
"""Bytes beyond ASCII that a guess needs for such a score to count: of single-byte encodings, of the
others.
"""

_MOST_CONTROLS = 0.02
"""Share of control characters that a text may have: logs have escape sequences, and programs have
far more.
"""

_MOST_MIXED = 0.2
"""Share of the words beyond ASCII that may mix scripts: brands do, a wrong reading of accents does
all the time.
"""

_CONTROLS = bytes(set(range(32)) - set(b"\t\n\v\f\r\b\x1b")) + b"\x7f"
_CONTROLS_OF_TEXT = re.compile(f"[{re.escape(_CONTROLS.decode())}]")
_WORD = re.compile(r"[^\W\d_]+")
_SIGNS = "µªº"
"""What Unicode counts among letters, and no language does."""

_BEHIND_WORDS = "’‘”“®™©…–—»"
_BEFORE_WORDS = "’‘“«°µ©¿¡§–—"


class Decoded(NamedTuple):
    """A text and the encoding it was read in."""

    text: str
    encoding: Encoding


def decode(data: bytes, requested_encoding: str = "", declared_encoding: str = "") -> Decoded:
    """Return the text, without a byte order mark.

    `requested_encoding`: the encoding somebody says it is in, which decides. `declared_encoding`:
    what was said of it on its way, which is believed where the bytes fit. Raises InvalidInput for
    binary data, for an encoding that is unknown, and for one that was asked for and does not fit.
    """
    if requested_encoding:
        return _as_asked(data, requested_encoding)
    for byte_order_mark, encoding in _MARKS:
        if data.startswith(byte_order_mark):
            return _strictly(data[len(byte_order_mark) :], encoding)
    if b"\0" in data:
        return _strictly(data, _wide(data))
    if len(data.translate(None, _CONTROLS)) < len(data) * (1 - _MOST_CONTROLS):
        raise InvalidInput(BINARY)
    claims = [
        encoding_name
        for name in (declared_encoding, _declared(data))
        if (encoding_name := codec(name))
    ]
    return _utf8(data) or _claimed(data, claims) or _broken_utf8(data) or _guessed(data)


def looks_like_text(start: bytes) -> bool:
    """Return whether a file that begins with these bytes is text. The end may cut a character in
    two.
    """
    if b"\0" in start:  # two bytes a character, if it is text at all
        start = start[: len(start) // 4 * 4] or start
    try:
        decode(start)
    except InvalidInput:
        return False
    return True


def _as_asked(data: bytes, requested_encoding: str) -> Decoded:
    name = validated_encoding(requested_encoding)
    place = 0
    for encoding in dict.fromkeys((superset(name), name)):
        try:
            text = data.decode(encoding).removeprefix("\ufeff")
        except UnicodeDecodeError as error:
            place = error.start
        else:
            return Decoded(_text(text), Encoding(registered(name), 1.0))
    ways = "give the encoding it is in, or none to have it detected"
    raise InvalidInput(f"not {registered(name)}, as byte {place + 1:,} shows: {ways}")


def _strictly(data: bytes, encoding: str) -> Decoded:
    try:
        return Decoded(_text(data.decode(encoding)), Encoding(registered(encoding), 1.0))
    except UnicodeDecodeError:
        raise InvalidInput(BINARY) from None


def _text(text: str) -> str:
    if "\0" in text or len(_CONTROLS_OF_TEXT.findall(text)) > len(text) * _MOST_CONTROLS:
        raise InvalidInput(BINARY)
    return text


def _wide(data: bytes) -> str:
    """Return the UTF-16 of a text without a mark: its zero bytes are nearly all at odd or nearly
    all at even places.
    """
    sample = data[:SAMPLE]
    even = sample[::2].count(0)
    odd = sample[1::2].count(0)
    if max(even, odd) < len(sample) / 8 or min(even, odd) > max(even, odd) / 8:
        raise InvalidInput(BINARY)
    return "utf-16-le" if odd > even else "utf-16-be"


def _declared(data: bytes) -> str:
    match = _DECLARED.search(data[:HEAD])
    return (
        next((name for name in match.groups() if name), b"").decode("ascii", "ignore")
        if match
        else ""
    )


def _utf8(data: bytes) -> Decoded | None:
    """Decode valid UTF-8, which is hardly ever anything else, whatever it claims to be."""
    if data.isascii() and b"\x1b$" in data:  # Japanese mail: ASCII bytes with escape sequences
        with suppress(UnicodeDecodeError):
            return Decoded(data.decode("iso2022_jp_2"), Encoding("iso-2022-jp", 0.95))
    with suppress(UnicodeDecodeError):
        return Decoded(data.decode("utf-8"), Encoding("utf-8", 1.0))
    return None


def _broken_utf8(data: bytes) -> Decoded | None:
    """Decode UTF-8 with a few broken bytes, as a text has that was cut or put together."""
    text = data.decode("utf-8", "replace")
    broken_count = text.count("\ufffd")
    whole_count = len(text) - len(text.encode("ascii", "ignore")) - broken_count
    return (
        Decoded(text, Encoding("utf-8", 0.9, is_damaged=True))
        if whole_count > 4 * broken_count
        else None
    )


def _claimed(data: bytes, claims: Iterable[str]) -> Decoded | None:
    for name in claims:
        with suppress(UnicodeDecodeError):
            return Decoded(_text(data.decode(superset(name))), Encoding(registered(name), 0.95))
    return None


def _guessed(data: bytes) -> Decoded:
    """Guess by the statistics of languages, over lines that have anything beyond ASCII."""
    sample = _sample(data)
    if _is_plausible(sample, "cp1252") and _has_signs_only(sample.decode("cp1252")):
        return _read(data, ["cp1252"], lambda _: 0.9)
    fitting = [name for name in CANDIDATES if _is_plausible(sample, name)]
    if not fitting:
        raise InvalidInput(BINARY)
    # Where no language fits, it answers with the one to fall back to; Western if that is possible.
    answers = chardet.detect_all(sample, include_encodings=fitting, no_match_encoding=fitting[0])
    confidences = {
        answer["encoding"]: answer["confidence"] if answer["language"] else 0.0
        for answer in answers
    }
    scores = {codecs.lookup(name).name: score for name, score in confidences.items() if name}
    if not scores:
        raise InvalidInput(BINARY)
    likely = max(scores, key=lambda name: scores[name])
    if "cp1252" in fitting and sample.decode("cp1252") == sample.decode(likely):
        scores["cp1252"] = scores[likely]
    best = scores[likely]
    names = sorted(
        scores,
        key=lambda name: (scores[name] >= _PREFERRED * best and name == "cp1252", scores[name]),
    )[::-1]
    beyond = sum(1 for byte in sample if byte > 127)

    def confidence(name: str) -> float:
        enough = _ENOUGH if len(sample.decode(name)) == len(sample) else _ENOUGH_WIDE
        return round(min(0.99, scores[name] / _CERTAIN * min(1.0, beyond / enough)), 2)

    return _read(data, names, confidence)


def _read(data: bytes, names: Sequence[str], confidence: Callable[[str], float]) -> Decoded:
    """Decode in the first encoding that fits all bytes; if none does, in one that fits all but rare
    bytes.
    """
    for name in names:
        with suppress(UnicodeDecodeError):
            return Decoded(
                data.decode(superset(name)), Encoding(registered(name), confidence(name))
            )
    text = data.decode(superset(names[0]), "replace")
    return Decoded(text, Encoding(registered(names[0]), confidence(names[0]), is_damaged=True))


def _sample(data: bytes) -> bytes:
    """Return the lines with bytes beyond ASCII, each once, up to the length of a sample.

    It ends behind a byte that is no part of a longer character in any encoding, if there is one.
    """
    lines: dict[bytes, None] = {}
    size = 0
    for line in BytesIO(data):
        if not line.isascii() and line not in lines:
            lines[line] = None
            size += len(line)
        if size > SAMPLE:
            break
    sample = b"".join(lines)
    if len(sample) <= SAMPLE:
        return sample
    end = max(sample.rfind(byte, 0, SAMPLE) for byte in (b"\n", b" ", b",", b"."))
    return sample[: end + 1] if end > 0 else sample[:SAMPLE]


def _is_plausible(sample: bytes, name: str) -> bool:
    """Return whether the encoding has a character for every byte, and its reading is not of words
    that mix scripts.

    Encodings with several bytes a character betray a wrong reading by themselves, and their words
    stand together.
    """
    try:
        text = sample.decode(name)
    except UnicodeDecodeError:
        return False
    if len(text) < len(sample):
        return True
    words = [word for word in _WORD.findall(text) if not word.isascii() and word.isalpha()]
    foreign = [word for word in words if not any(map(_is_latin, word))]
    mixed_count = sum(1 for word in words if len({_is_latin(letter) for letter in word}) > 1)
    # "che è andata" is not three words of which one is Cyrillic.
    lonely = bool(foreign) and len(foreign) == len(words) and max(map(len, foreign)) == 1
    return mixed_count <= _MOST_MIXED * len(words) and not (
        lonely and re.search(rb"[A-Za-z]{2}", sample)
    )


def _is_latin(letter: str) -> bool:
    return letter.isascii() or "LATIN" in unicodedata.name(letter, "") or letter in _SIGNS


def _has_signs_only(text: str) -> bool:
    """Return whether all beyond ASCII are signs where signs stand; letters read wrongly stand
    inside of words.
    """
    for before, character, after in zip(f" {text}", text, f"{text[1:]} ", strict=False):
        if character > "\x7f":
            is_sign = character in _SIGNS or not character.isalpha()
            is_inside = (before.isalpha() and character not in _BEHIND_WORDS) or (
                after.isalpha() and character not in _BEFORE_WORDS
            )
            if not is_sign or is_inside:
                return False
    return True
