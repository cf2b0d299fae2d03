"""Lines that head what follows them: marked, underlined, in bold type, the number of a provision or
of a section, or a few words between blank lines.
"""

import re
from collections.abc import Sequence

from offline.language.lines import BULLET, is_field, is_message, is_validity
from offline.language.links import MARK

NOTE = rf"(?:\[\^[^\s\[\]]{{1,20}}\]|\[\d{{1,3}}\]_?|[¹²³⁴-⁹]+|{MARK})"
"""The mark of a footnote."""
_NOTES = re.compile(rf"\s?{NOTE}+$")
_MARKED = re.compile(r"#{1,6}\s")
_UNDERLINE = re.compile(r"([=\-~^*\"+])\1{2,}$")
_TITLE = re.compile(r"[^\W\d_][^。，]{0,78}[^\s.!?:;,。，！？；：]$")
_REMARKED = re.compile(r"[.!?…。！？]\s*[(（][^()（）]*[)）]$")
"""The end of a sentence with a remark behind it: `It is lit. (#13)`."""
_BOLD = re.compile(r"(\*\*|__)(?=\S)([^*_]+)(?<=\S)\1")
_NUMBERED = re.compile(r"(?:\d{1,2}[.)]|\d{1,2}(?:\.\d{1,2}){1,3}\.?|[IVX]{1,5}\.|[A-Z]\.)\s+")
"""The number of a section."""
_PROVISION = re.compile(
    r"(?:§{1,2}|(?:art(?:icle|ikel|ículo|icolo|igo|\.)|section|sec\.|clause|paragraph|paragraaf"
    r"|статья|пункт|ziffer)\s)\s*(?:\d{1,4}\s?[a-z]?|[IVXLC]{1,6})(?:[.:]?\s+|[.:]?$)",
    re.IGNORECASE,
)
"""The number of a provision of a contract or a law."""
_HAN_PROVISION = re.compile(r"第[一二三四五六七八九十百零\d]+[条條款]")
_DIGIT = re.compile(r"\d")
_HAN = re.compile("[\u3005-\u30ff\u3400-\u9fff]")
_LONGEST = 120
_LONGEST_TITLE = 60
_MOST_WORDS = 8
_MOST_CAPITALS = 14
"""Characters of a heading that is not in capitals, its words, and those of one in capitals."""
_LONGEST_IN_HAN = 24
"""Characters of a heading in a script without blanks."""


def is_heading(line: str, following: Sequence[str], *, blank: bool, above: str) -> bool:
    """Return whether a line heads what follows it. `following`: the two lines below it, `blank`:
    whether it stands behind a blank line, `above`: the last line before it that is not blank.
    """
    if _MARKED.match(line):
        return True
    if not blank or not following or not line:
        return False
    below = following[0].strip()
    if _UNDERLINE.match(below) and len(line) < _LONGEST:
        return not BULLET.match(line) or (bool(_NUMBERED.match(line)) and len(below) >= len(line))
    if is_provision_number(line):
        return True
    if below or len(following) < 2:
        return False
    if number := _NUMBERED.match(line) or _PROVISION.match(line):
        is_section = not _goes_on(line, above, following[1])
        return is_section and _is_short_title(line[number.end() :])
    if BULLET.match(line):
        return False
    bold = _BOLD.fullmatch(line)
    if bold is None:
        return _is_short_title(line)
    words = _PROVISION.sub("", _NUMBERED.sub("", bold[2], count=1), count=1).lstrip(" –—-")
    is_telling = _DIGIT.search(words) is not None  # such as `**Serves 4**`
    return words.endswith(("?", "？")) or (not is_telling and _is_short_title(words))


def is_provision_number(line: str) -> bool:
    """Return whether a line has the number of a provision alone: `§ 4`, `Article 12.`, `第三条`."""
    match = _PROVISION.match(line)
    is_whole = match is not None and match.end() == len(line)
    return is_whole or _HAN_PROVISION.fullmatch(line) is not None


def provision_number(heading: str) -> str:
    """Return the number of the provision that a heading begins, as `§ 4`; empty for another one."""
    match = _PROVISION.match(heading) or _HAN_PROVISION.match(heading)
    return match[0].strip(" .:") if match else ""


def is_bold(line: str) -> bool:
    """Return whether a whole line is in bold type."""
    return _BOLD.fullmatch(line) is not None


def _goes_on(line: str, above: str, below: str) -> bool:
    """Return whether a numbered line is an item of a list whose items stand apart."""
    if not BULLET.match(line):
        return False
    return below[:1].isspace() or any(
        _NUMBERED.match(neighbour) is not None and _level(neighbour) == _level(line)
        for neighbour in (above, below)
    )


def _level(line: str) -> int:
    """Return how deep a numbered line stands, from 0: `3.1. Fees` at 1."""
    return line.split()[0].rstrip(".)").count(".")


def _is_short_title(line: str) -> bool:
    return (
        (line.isupper() or len(line) <= _LONGEST_TITLE)
        and len(line.split()) <= (_MOST_CAPITALS if line.isupper() else _MOST_WORDS)
        and not (line[:1].islower() and " " in line)
        and _TITLE.match(_NOTES.sub("", line)) is not None
        and (len(line) <= _LONGEST_IN_HAN or not _HAN.search(line))
        and _REMARKED.search(line) is None
        and not is_field(line)
        and not is_validity(line)
        and not is_message(line)
    )
