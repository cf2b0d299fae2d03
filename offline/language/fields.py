"""Lines that give the value of a field: `Date: 3 March`, `时间：三月三日`."""

import re

_LABEL = r"[^\W\d_][^:：.,;!?。，；！？|\n]{0,31}"
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
