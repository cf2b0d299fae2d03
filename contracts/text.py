"""Cleaning of incoming text: make it printable, or reject it."""

import html
import re
from bisect import bisect_left
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import chain

from contracts.spelling import BASE, DECOMPOSED, UNSEEN_IN_TEXT, composed

_FORBIDDEN_RANGES = "\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\ud800-\udfff\ufdd0-\ufdef\ufffe\uffff"
"""Control characters except tab, line feed and carriage return; surrogates; Unicode
non-characters of the first plane.
"""

_FORBIDDEN_BEYOND = "".join(
    chr((plane << 16) + offset) for plane in range(1, 17) for offset in (0xFFFE, 0xFFFF)
)
"""Unicode non-characters of the other planes."""

# One class with both takes eight times as long: the library looks characters of the first plane up
# in a table, and compares those of others with each of 32.
_FORBIDDEN = (
    re.compile(f"[{_FORBIDDEN_RANGES}]"),
    re.compile(f"(?=[{_FORBIDDEN_BEYOND[0]}-{_FORBIDDEN_BEYOND[-1]}])[{_FORBIDDEN_BEYOND}]"),
)

_PRINTED = re.compile(
    rf"[\s{_FORBIDDEN_RANGES}{_FORBIDDEN_BEYOND}]*[^\s&{_FORBIDDEN_RANGES}{_FORBIDDEN_BEYOND}]"
)
"""A character that `sanitize` keeps, before any character reference."""

_UNFIT_FOR_NAMES = re.compile(
    "[\x00-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069\ud800-\udfff]"
)
"""Control characters, line breaks, marks of direction that reorder what stands around them,
surrogates.
"""

_REFERENCE = re.compile(r"&(?:#([0-9]+);?|#[xX]([0-9a-fA-F]+);?|[^\t\n\f <&#;]{1,32};?)")
"""A character reference of HTML 5, as `html.unescape` sees one."""

_OPEN_REFERENCE = re.compile(r"&(?:#(?:[0-9]*|[xX][0-9a-fA-F]*)|[^\t\n\f <&#;]{0,32})")
"""What more characters might make another reference of."""

_LONGEST_NUMBER = 10
"""Digits behind the leading zeros of a reference; more of them name no character, and `int` refuses
thousands.
"""

INLINE_LIMIT = 200 * 1024
"""Bytes of UTF-8 that may stand inside an event; a longer text goes to KB_BLOBS first."""

MAX_TEXT_BYTES = 64 * 1024 * 1024
"""The longest text a document may have, in bytes of UTF-8."""


def sanitize(text: str) -> str:
    """Strip, unescape HTML entities, drop what no store or model can take, strip again."""
    text = text.strip()
    if "&" in text:
        text = _REFERENCE.sub(_unescaped, text)
    if not text.isprintable():
        for forbidden in _FORBIDDEN:
            text = forbidden.sub("", text)
    return text.strip()


def is_blank(text: str) -> bool:
    """Return whether `sanitize` leaves nothing of the text."""
    # Most texts begin with a letter: of those the first line is read, not the megabytes behind it.
    return not _PRINTED.match(text) and not sanitize(text)


def sanitized(texts: Iterable[str], offsets: Sequence[int] = ()) -> Iterator[tuple[str, list[int]]]:
    """`sanitize` of the texts joined, in pieces, without ever joining them.

    `offsets` are ascending places in the joined texts. With each piece come those that are settled
    with it, as places in the sanitised text: that of the character itself, or of what follows where
    it was left out.
    """
    waiting = ""
    blanks = ""
    # Characters of the joined texts, and of the sanitised one with `blanks`, that are done.
    read = written_count = 0
    pending_offsets = list(reversed(offsets))
    for text in _and_end(texts):
        buffer = waiting + (text or "")
        settled_count = len(buffer) if text is None else _settled(buffer)
        here = [
            pending_offsets.pop() - read
            for _ in range(
                _count_before(pending_offsets, read + settled_count, is_last=text is None)
            )
        ]
        clean, here = _replaced(_REFERENCE, _unescaped, buffer[:settled_count], here)
        for forbidden in _FORBIDDEN:
            clean, here = _replaced(forbidden, _nothing, clean, here)
        waiting = buffer[settled_count:]
        read = read + settled_count
        if not written_count:
            leading = len(clean) - len(clean.lstrip())
            clean = clean[leading:]
            here = [max(0, offset - leading) for offset in here]
        here = [written_count + offset for offset in here]
        written_count += len(clean)
        body = clean.rstrip()
        if body:
            yield blanks + body, here
            blanks = clean[len(body) :]
        else:
            blanks += clean
            yield "", here


_LONGEST_CLUSTER = 64
"""Characters of a letter with its marks that are looked through; nobody reads a longer one."""

_END: tuple[None, list[int]] = (None, [])


def cleaned(texts: Iterable[str], offsets: Sequence[int] = ()) -> Iterator[tuple[str, list[int]]]:
    """`sanitized` and `readable`: the text of a document as its passages are cut from it, with the
    places in it.
    """
    waiting = ""
    # Characters of the sanitised text, and of the readable one, that are done.
    read = written_count = 0
    pending_offsets: list[int] = []
    for text, places in chain(sanitized(texts, offsets), (_END,)):
        buffer = waiting + (text or "")
        pending_offsets += places
        settled_count = len(buffer) if text is None else _last_base(buffer)
        count = (
            len(pending_offsets)
            if text is None
            else bisect_left(pending_offsets, read + settled_count)
        )
        here = [place - read for place in pending_offsets[:count]]
        clean, here = _replaced(UNSEEN_IN_TEXT, _nothing, buffer[:settled_count], here)
        clean, here = _replaced(DECOMPOSED, composed, clean, here)
        waiting = buffer[settled_count:]
        pending_offsets = pending_offsets[count:]
        read = read + settled_count
        yield clean, [written_count + place for place in here]
        written_count += len(clean)


def _last_base(buffer: str) -> int:
    """Return where the last character begins that another one may still be joined to."""
    for place in range(len(buffer) - 1, max(-1, len(buffer) - _LONGEST_CLUSTER), -1):
        if BASE.match(buffer, place):
            return place
    return len(buffer)


def _and_end(texts: Iterable[str]) -> Iterator[str | None]:
    yield from texts
    yield None


def _settled(buffer: str) -> int:
    """Return how much of the buffer stays as it is, whatever follows."""
    ampersand = buffer.rfind("&")
    return (
        ampersand
        if ampersand >= 0 and _OPEN_REFERENCE.fullmatch(buffer, ampersand)
        else len(buffer)
    )


def _count_before(pending_offsets: Sequence[int], end: int, *, is_last: bool) -> int:
    """Return how many of the marks, the least of which stands last, lie before `end`."""
    count = 0
    while count < len(pending_offsets) and (is_last or pending_offsets[-1 - count] < end):
        count += 1
    return count


def _replaced(
    pattern: re.Pattern[str],
    replacement: Callable[[re.Match[str]], str],
    text: str,
    offsets: list[int],
) -> tuple[str, list[int]]:
    """Return the result of `pattern.sub`, and where the marks then stand."""
    if not offsets:
        return pattern.sub(replacement, text), offsets
    moved_offsets: list[int] = []
    shift = 0
    position = 0
    for match in pattern.finditer(text):
        start, end = match.span()
        while position < len(offsets) and offsets[position] < end:
            moved_offsets.append(min(offsets[position], start) + shift)
            position += 1
        shift += len(replacement(match)) - (end - start)
    return pattern.sub(replacement, text), moved_offsets + [
        offset + shift for offset in offsets[position:]
    ]


def _unescaped(match: re.Match[str]) -> str:
    digits = match[1] or match[2] or ""
    return (
        "\ufffd"
        if len(digits.lstrip("0")) > _LONGEST_NUMBER
        else html.unescape(_shortened(match[0], digits))
    )


def _shortened(reference: str, digits: str) -> str:
    return (
        reference.replace(digits, digits.lstrip("0") or "0")
        if len(digits) > _LONGEST_NUMBER
        else reference
    )


def _nothing(_: re.Match[str]) -> str:
    return ""


def is_on_one_line(name: str) -> bool:
    """Return whether a name has no control character, no line break and no mark that turns the
    direction of writing.
    """
    return not _UNFIT_FOR_NAMES.search(name)


def one_line(name: str) -> str:
    """Return a name as it can be shown among others: what `is_on_one_line` forbids is replaced by
    `\ufffd`.

    For names that nobody could refuse, as those of events that anybody published.
    """
    return _UNFIT_FOR_NAMES.sub("\ufffd", name)


def encodable(text: str) -> str:
    """Return the text without lone surrogates, which UTF-8 cannot carry."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-8", "ignore").decode()
    return text
