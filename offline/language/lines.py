"""Lines that are more than text: those that begin or end code in Markdown and reStructuredText,
those that give the value of a field (`Date: 3 March`, `时间：三月三日`), those that tell since or
until when something holds (`Valid from 1 May`), those that end with a day of a year, and messages
of a chat.
"""

import re
from collections.abc import Iterable, Iterator
from itertools import pairwise

BULLET = re.compile(
    r"(?:[-*+•·–‣▪◦●○■□]|\d{1,3}[.)]|[a-zA-Z][.)]|[ivx]{1,4}[.)]"
    r"|\[[ xX]\]|[☐☑☒✓✔✗✘])\s"
)
"""The beginning of an item of a list: a bullet, a number, a letter, a box to tick."""
_HAN_ITEM = re.compile(r"[(（][一二三四五六七八九十]{1,3}[)）]|（\d{1,2}）|[①-⑳]|\d{1,2}、")
"""The number of an item in Chinese, or of a heading."""

_FENCE = re.compile(r"(```+(?=[^`]*$)|~~~+)(.*)")
"""Backticks that end in their own line are code within a sentence."""
_UNDERLINE = re.compile(r"~{3,}")
_LONG = 5
"""Tildes from which a row underlines a title that begins with a small letter."""

_DIRECTIVE = re.compile(r"\.\. (?:code|code-block|graphviz|math|parsed-literal|sourcecode)::")


def begins_item(line: str) -> bool:
    """Return whether a line begins an item of a list."""
    return BULLET.match(line) is not None or _HAN_ITEM.match(line) is not None


def announces_code(line: str) -> bool:
    """Return whether lines that are indented below a line are code in reStructuredText."""
    content = line.strip()
    is_marked = content.endswith("::") and not content.startswith("..")
    return is_marked or is_code_directive(content)


def is_code_directive(line: str) -> bool:
    """Return whether a line is a directive of reStructuredText with code below it."""
    return _DIRECTIVE.match(line.strip()) is not None


def fence(line: str, above: str) -> re.Match[str] | None:
    """Return the match of a line that begins or ends a block of code, its second group what names
    the code. `above` is the line above it: a row of tildes below a title of no more characters
    underlines it, as in reStructuredText.
    """
    content, title = line.strip(), above.strip()
    is_row = _UNDERLINE.fullmatch(content) is not None and 0 < len(title) <= len(content)
    if is_row and (title[0].isupper() or len(content) >= _LONG):
        return None
    return _FENCE.match(content)


def has_fence(text: str) -> bool:
    """Return whether a block of code begins or ends in a text."""
    if "```" not in text and "~~~" not in text:
        return False
    return any(fence(line, above) for above, line in pairwise(["", *text.splitlines()]))


def with_code(lines: Iterable[str]) -> Iterator[tuple[str, bool]]:
    """Yield each line, and whether it is a fence or code between two."""
    is_fenced = False
    above = ""
    for line in lines:
        is_fence = bool(fence(line, above))
        yield line, is_fence or is_fenced
        is_fenced = is_fenced is not is_fence
        above = line


_LABEL = r"[^\W\d_][^:：.,;!?。，；！？|\n]{0,31}\.?"
_MOST_WORDS = 4
_FIELD = re.compile(rf"(?:\*\*|__)?({_LABEL})(?::(?:\*\*|__)?\s|：)(?=.*\w)")
_NUMBER = re.compile(r"(?:\d+[a-z]?|[ivxlcdm]+|[a-z]|[一二三四五六七八九十百]+)", re.IGNORECASE)
"""The last word of a label that numbers a heading: `Part II: Use`."""
_HAN_NUMBER = re.compile(
    r"第?[一二三四五六七八九十百零\d]+[章节節条條部分步课課篇]?|.*[一二三四五六七八九十]"
)
_PARTS = frozenset(
    """
    abschnitt act anexo anhang annex annexe appendix capítulo chapitre chapter day kapitel
    lecture lesson module part parte partie paso phase scene schritt sección section step tag
    teil unit étape глава день приложение раздел часть шаг этап
    """.split()  # noqa: SIM905
)
"""What a label begins with that counts the parts of a text: `Chapter One: The Sea`."""


def is_field(line: str) -> bool:
    """Return whether a line gives the value of a field, and is no heading such as `Part 2: Use`."""
    match = _FIELD.match(line)
    if match is None:
        return False
    label_words = match[1].split()
    return (
        len(label_words) <= _MOST_WORDS
        and label_words[0].lower() not in _PARTS
        and _NUMBER.fullmatch(label_words[-1]) is None
        and _HAN_NUMBER.fullmatch(match[1]) is None
    )


_MONTH = (
    r"(?:jan|feb|f[ée]v|m[aä]r|apr|avr|abr|ma[iyo]|jun|juin|jul|juil|aug|ao[uû]|ago|se[pt]|o[ck]t|nov"
    r"|de[cz]|d[ée]c|ene|dic|янв|фев|мар|апр|ма[яй]|июн|июл|авг|сен|окт|ноя|дек)[^\W\d_]*\.?"
)
_DATE = (
    rf"(?:\d{{1,2}}(?:st|nd|rd|th|er|º)?\.?\s(?:de\s)?{_MONTH}|{_MONTH}\s\d{{1,2}}(?:st|nd|rd|th)?)"
    r"(?:,?\s(?:de\s|del\s)?\d{4}(?:\sг\.?|\sгода)?)?|\d{1,2}[./]\s?\d{1,2}[./]\s?(?:\d{4}|\d\d)?"
    r"|\d{4}-\d\d-\d\d"
)
_VALIDITY = re.compile(
    r".*\b(?:from|since|until|till|by|before|ab|ab dem|seit|seit dem|bis|bis zum|zum|depuis le"
    r"|dès le|jusqu['’]au|à partir du|à compter du|desde el|hasta el|a partir del|с|со|до|по)\s"
    rf"(?:{_DATE})|.*(?:自|从|截至|截止).*[月日]起?(?:施行|实施|生效|执行|有效|止)?",
    re.IGNORECASE,
)


def is_validity(line: str) -> bool:
    """Return whether a line tells at its end since or until which day something holds."""
    return _VALIDITY.fullmatch(line) is not None


_DAY_OF_YEAR = (
    rf"(?:\d{{1,2}}(?:st|nd|rd|th|er|º)?\.?\s(?:de\s)?{_MONTH}|{_MONTH}\s\d{{1,2}}(?:st|nd|rd|th)?)"
    r",?\s(?:de\s|del\s)?\d{4}|\d{1,2}[./]\s?\d{1,2}[./]\s?\d{4}|\d{4}-\d\d-\d\d"
    r"|\d{4}年\d{1,2}月\d{1,2}日"
)
_DATED = re.compile(rf".*(?<!\w)(?:{_DAY_OF_YEAR})[)\]]?(?:\sг\.?|\sгода)?", re.IGNORECASE)
_DATELINE = re.compile(
    rf"[^\W\d_][^,.:;\d]{{1,40}},\s(?:(?:den|le|the|el|il|a)\s)?(?:{_DAY_OF_YEAR})(?:\sг\.?)?",
    re.IGNORECASE,
)


def is_dated(line: str) -> bool:
    """Return whether a line ends with a day of a year, as those do that head a version, a meeting
    or a letter.
    """
    return _DATED.fullmatch(line) is not None


def is_dateline(line: str) -> bool:
    """Return whether a line says where and on which day a letter was written."""
    return _DATELINE.fullmatch(line) is not None


_MESSAGE = re.compile(
    r"[\[(]?(?:(?:\d{4}-\d\d-\d\d|\d{1,2}[./]\d{1,2}[./]\d{2,4}),?[ T])?"
    r"\d{1,2}:\d\d(?::\d\d)?(?:\s?[ap]\.?m\.?)?[\])]?\s*[-–—]?\s*"
    r"(?:<[^<>\s]{1,30}>|[^\W\d_][^:：<>\n]{0,30}[:：])\s+\S.*",
    re.IGNORECASE,
)


def is_message(line: str) -> bool:
    """Return whether a line is a message of a chat: when, by whom, what."""
    return _MESSAGE.fullmatch(line) is not None
