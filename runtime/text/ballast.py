"""Binary data inside text: inline pictures and fonts, base64, dumps. Nobody asks for it, and one
picture in a text can make hundreds of chunks.

Long runs of the characters of base64 are looked for, in time that grows with the length of the
text, and left out where they look like no language: hashes, addresses, long words, sequences of DNA
and numbers stay.
"""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

SHORTEST = 200
"""Characters of a run that stands alone: a hash has up to 128."""

LONGEST_ADDRESS = 2000
"""Characters of an address (`https://…`) whose parts are left alone."""

HELD = 1024 * 1024
"""Characters that are waited with at most, to see where a run ends."""

_SHORTEST_LINE = 56
_FEWEST_LINES = 3
"""Of base64 in lines: characters of each, and lines; all but the last are equally long."""

_RUN = re.compile(r"(?<![A-Za-z0-9+/_=-])[A-Za-z0-9+/_=-]{56,}")
_INLINE = re.compile(
    r"data:(?P<type>[\w.+-]{1,60}\\?/[\w.+-]{1,60})?(?:;[\w.+-]{1,60}=[\w.+\"-]{0,60}){0,5}"
    r"(?:;base64,[A-Za-z0-9+/_=%\\-]{24,}|,[^\s\"'<>()]{200,})"
)
_PICTURE = re.compile(r"!\[([^\]\n]{0,300})\]\(\s{0,3}<?$")
_END_OF_PICTURE = re.compile(r">?\s{0,3}(?:\"[^\"\n]{0,300}\"|'[^'\n]{0,300}')?\s{0,3}\)")
_BYTES = re.compile(
    r"(?<![0-9A-Za-z])(?:(?:[0-9A-Fa-f]{2}:[ \t\r\n]{0,16}){48,}"
    r"|(?:(?:0[xX])?[0-9A-Fa-f]{2}(?:,[ \t\r\n]{0,16}|[ \t\r\n]{1,16})){48,})"
)
_DUMP = re.compile(
    r"(?:^[ \t]{0,8}[0-9A-Fa-f]{4,16}:?[ \t]{1,4}(?:[0-9A-Fa-f]{2,8}[ \t]{1,3}){4,16}[^\n]{0,40}\n?){4,}",  # noqa: E501
    re.MULTILINE,
)
_MAPPINGS = re.compile(r"\bmappings\"?\s{0,3}:\s{0,3}\"?(?P<map>[A-Za-z0-9+/,;]{200,})")
_ENCODED_FILE = re.compile(
    r"^begin [0-7]{3,4} [^\n]{1,200}\n(?:[!-`][ -`]{0,61}\r?\n){2,}`?\r?\n?end\b", re.MULTILINE
)

_CLASSES = str.maketrans(
    {
        **dict.fromkeys("ABCDEFGHIJKLMNOPQRSTUVWXYZ", "u"),
        **dict.fromkeys("abcdefghijklmnopqrstuvwxyz", "l"),
        **dict.fromkeys("0123456789", "d"),
        **dict.fromkeys("+/_=-", "s"),
    }
)
_STRETCH = re.compile(r"u+|l+|d+|s+")
_HEXADECIMAL = re.compile(r"[0-9a-f]+|[0-9A-F]+")
_HASHES = {32, 40, 48, 56, 64, 96, 128}
"""Hexadecimal digits of hashes."""
_BETWEEN_LINES = re.compile(r"(?:\\[rn]?|[ \t\r\n\"',+>|]){1,24}")
_LAST_LINE = re.compile(r"(?:\\[rn]|[ \t\r\n\"',+>|]){1,24}([A-Za-z0-9+/]{1,128}={0,2})(?![\w+/=])")
_NO_DIGIT = re.compile(r"[^0-9A-Fa-fx:,|.]")
"""What no dump of bytes has in its columns of digits."""

_SAMPLE = 4096
_LONGEST_WORDS = 2.6
"""Small letters that stand together on average: 1.7 in base64, more than 3 in names and
addresses.
"""


class Ballast(NamedTuple):
    """A stretch of binary data in a text, and what stands there instead. `kind`: a media type, or
    empty.
    """

    start: int
    end: int
    kind: str = ""
    is_inline: bool = False
    instead: str = ""


class LeftOut:
    """What was left out of a text: stretches and their bytes, by kind."""

    def __init__(self) -> None:
        self._inline: Counter[str] = Counter()
        self._stretches = self._inline_bytes = self._bytes = 0

    def add(self, ballast: Ballast) -> None:
        """Count one stretch."""
        size = ballast.end - ballast.start
        if ballast.is_inline:
            self._inline[ballast.kind] += 1
            self._inline_bytes += size
        else:
            self._stretches += 1
            self._bytes += size

    def sentences(self) -> tuple[str, ...]:
        """Return what was left out in sentences for people."""
        sentences: list[str] = []
        if count := self._inline.total():
            kinds = ", ".join(sorted(filter(None, self._inline))[:5])
            subject = "1 inline file" if count == 1 else f"{count:,} inline files"
            of = f"{kinds}; " if kinds else ""
            sentences.append(
                f"{subject} ({of}{self._inline_bytes:,} bytes) {_were(count)} left out: only "
                "text is read"
            )
        if count := self._stretches:
            subject = "1 stretch" if count == 1 else f"{count:,} stretches"
            sentences.append(
                f"{subject} of binary data ({self._bytes:,} bytes) {_were(count)} left out"
            )
        return tuple(sentences)


def _were(count: int) -> str:
    return "was" if count == 1 else "were"


class CleanText(NamedTuple):
    """A text without binary data, the offsets in it of places of the original, and sentences about
    what was left out.
    """

    text: str
    offsets: tuple[int, ...]
    warnings: tuple[str, ...]


def clean_text(text: str, offsets: Sequence[int] = ()) -> CleanText:
    """Return the text without its binary data. `offsets` are ascending places in it."""
    left_out = LeftOut()
    clean, stretches = _removed(text, left_out)
    return CleanText(
        clean, tuple(_moved(offset, stretches) for offset in offsets), left_out.sentences()
    )


def ballast_in(text: str) -> list[Ballast]:
    """Return the stretches of binary data in a text, in their order."""
    stretches = sorted([*_inline_files(text), *_dumps(text), *_runs(text)])
    apart: list[Ballast] = []
    for stretch in stretches:
        if not apart or stretch.start >= apart[-1].end:
            apart.append(stretch)
    return apart


def without_ballast(
    pieces: Iterable[tuple[str, Sequence[int]]], left_out: LeftOut
) -> Iterator[tuple[str, list[int]]]:
    """Yield a text that comes in pieces without its binary data, which `left_out` counts.

    With each piece come offsets: ascending places in the whole text, each in this piece or in a
    later one. They are yielded with the piece they then belong to, as places in the text that is
    yielded.
    """
    buffer = ""
    offsets = list[int]()
    read_length = clean_length = 0
    for text, new_offsets in _and_end(pieces):
        buffer += text or ""
        offsets += new_offsets
        settled_length = len(buffer) if text is None else _settled(buffer)
        clean, shifts = _removed(buffer[:settled_length], left_out)
        here = [
            offset for offset in offsets if text is None or offset < read_length + settled_length
        ]
        yield clean, [clean_length + _moved(offset - read_length, shifts) for offset in here]
        offsets = offsets[len(here) :]
        buffer = buffer[settled_length:]
        read_length += settled_length
        clean_length += len(clean)


def _and_end(
    pieces: Iterable[tuple[str, Sequence[int]]],
) -> Iterator[tuple[str | None, Sequence[int]]]:
    yield from pieces
    yield None, ()


def _settled(buffer: str) -> int:
    """Return how much of the buffer can be judged whatever follows: up to a blank between two words
    of language.
    """
    end = len(buffer)
    is_short = False
    while end > max(0, len(buffer) - HELD):
        begin = max(buffer.rfind(" ", 0, end), buffer.rfind("\n", 0, end))
        was_short = is_short
        is_short = end - begin < _SHORTEST_LINE and bool(_NO_DIGIT.search(buffer, begin + 1, end))
        if was_short and is_short:
            return end
        end = max(begin, 0)
    return len(buffer) if len(buffer) > HELD else 0


def _removed(text: str, left_out: LeftOut) -> tuple[str, list[Ballast]]:
    stretches = ballast_in(text)
    parts: list[str] = []
    place = 0
    for ballast in stretches:
        left_out.add(ballast)
        parts += (text[place : ballast.start], ballast.instead)
        place = ballast.end
    return "".join([*parts, text[place:]]) if stretches else text, stretches


def _moved(place: int, stretches: Sequence[Ballast]) -> int:
    """Return where a place of the text is once the stretches are gone."""
    shift = 0
    for ballast in stretches:
        if place < ballast.end:
            return min(place, ballast.start) - shift
        shift += ballast.end - ballast.start - len(ballast.instead)
    return place - shift


def _inline_files(text: str) -> Iterator[Ballast]:
    """Yield `data:` addresses; of a picture of Markdown its alternative text stays."""
    if "data:" not in text:
        return
    for match in _INLINE.finditer(text):
        kind = (match["type"] or "").replace("\\", "")
        before = _PICTURE.search(text, max(0, match.start() - 310), match.start())
        after = _END_OF_PICTURE.match(text, match.end())
        if before and after:
            yield Ballast(before.start(), after.end(), kind, True, before[1])
        else:
            yield Ballast(*match.span(), kind, True)


def _dumps(text: str) -> Iterator[Ballast]:
    """Yield bytes that are written out, files in the encoding of uuencode, and the tables of source
    maps.
    """
    for match in _BYTES.finditer(text):
        letters = sum(map(match[0].lower().count, "abcdef"))
        if letters * 8 >= len(match[0]) / 3:
            yield Ballast(*match.span())
    yield from (Ballast(*match.span()) for match in _DUMP.finditer(text))
    if "\nend" in text:
        yield from (Ballast(*match.span()) for match in _ENCODED_FILE.finditer(text))
    if "mappings" in text:
        yield from (Ballast(*match.span("map")) for match in _MAPPINGS.finditer(text))


def _runs(text: str) -> Iterator[Ballast]:
    """Yield runs of base64 and hexadecimal digits: long ones, and those that stand in lines of one
    length.
    """
    group: list[re.Match[str]] = []
    for run in _RUN.finditer(text):
        if group and not _BETWEEN_LINES.fullmatch(text, group[-1].end(), run.start()):
            yield from _judged(text, group)
            group = []
        group.append(run)
    yield from _judged(text, group)


def _judged(text: str, group: Sequence[re.Match[str]]) -> Iterator[Ballast]:
    if _are_lines([run[0] for run in group]):
        yield Ballast(group[0].start(), _end_of_lines(text, group[-1].end()))
        return
    for run in group:
        if len(run[0]) >= SHORTEST and not _is_in_address(text, run) and _is_binary(run[0]):
            yield Ballast(*run.span())


def _are_lines(runs: Sequence[str]) -> bool:
    """Return whether these are lines of one encoded file, and no list of hashes.

    The `n` of a break that is written as `\\n` belongs to the line behind it: the first line may be
    shorter.
    """
    lengths = {len(run) for run in runs[1:-1]}
    if len(runs) < _FEWEST_LINES or len(lengths) > 1 or not _is_binary("".join(runs)):
        return False
    return not (lengths <= _HASHES and all(map(_HEXADECIMAL.fullmatch, runs)))


def _end_of_lines(text: str, end: int) -> int:
    """Return where lines of base64 end: behind a short last one, which is no word."""
    match = _LAST_LINE.match(text, end)
    return match.end() if match and not match[1].isalpha() else end


def _is_in_address(text: str, run: re.Match[str]) -> bool:
    if len(run[0]) > LONGEST_ADDRESS:
        return False
    before = text[max(0, run.start() - LONGEST_ADDRESS) : run.start()].rsplit(None, 1)
    return bool(before) and not text[run.start() - 1].isspace() and "://" in before[-1]


def _is_binary(run: str) -> bool:
    """Return whether a long run looks like encoded bytes: letters and digits in no order."""
    if len(run) > 3 * _SAMPLE:
        middle = len(run) // 2
        run = run[:_SAMPLE] + run[middle : middle + _SAMPLE] + run[-_SAMPLE:]
    classes = run.translate(_CLASSES)
    lower_case, capital, digits = (classes.count(letter) for letter in "lud")
    if not digits or (lower_case + capital) * 4 < len(run):
        return False
    if _HEXADECIMAL.fullmatch(run):
        return True
    stretches = Counter(stretch[0] for stretch in _STRETCH.findall(classes))
    if not lower_case:  # base32
        return digits * 10 > len(run) and stretches["u"] * 8 > capital
    return bool(capital) and lower_case < stretches["l"] * _LONGEST_WORDS
