"""Numbers of a spreadsheet as its program shows them: `1,234.50 €`, `12.5%`, `3 May 2021` as
2021-05-03, `26:30`.
"""

import datetime as dt
import re
from typing import NamedTuple

MAX_FORMAT = 255
"""Characters of a number format; a longer one is not looked at."""

_SECTIONS = re.compile(r"(?:\"[^\"]*\"|\\.|\[[^\]]*\]|[^;\"\\\[])*")
_PARTS = re.compile(
    r"\"([^\"]*)\"|\\(.)|_.|\*.|\[\$([^\]-]*)[^\]]*\]|\[[^\]]*\]|([#0?][#0?,.]*)|(%)|([Ee][+-]0+)|(.)"
)
_ELAPSED = re.compile(r"\[(h+|m+|s+)\]", re.IGNORECASE)
_DATE = re.compile(r"(?<!\\)[ymdhs]", re.IGNORECASE)
_QUOTED = re.compile(
    r"\"[^\"]*\"|\\.|\[\$[^\]]*\]|\[(?:Red|Black|Blue|Green|White|Yellow|Cyan|Magenta|Color ?\d+|[<>=][^\]]*)\]",  # noqa: E501
    re.I,
)


class _Section(NamedTuple):
    """One section of a format: what stands before and behind the number, and how many digits it
    has.
    """

    before: str
    behind: str
    decimals: int | None
    fixed_digits: int
    least_digits: int
    has_thousands: bool
    percents: int
    is_scientific: bool
    scale: int


def shown(value: float, number_format: str) -> str:
    """Return a number in its format; at most 15 digits where the format says nothing that is known
    here.
    """
    if (
        number_format == "General"
        or len(number_format) > MAX_FORMAT
        or _DATE.search(_QUOTED.sub("", number_format))
    ):
        return f"{value:.15g}"
    sections = [section for section in _SECTIONS.findall(number_format) if section][:4]
    if not sections or "/" in _QUOTED.sub("", sections[0]) or "@" in sections[0]:
        return f"{value:.15g}"
    negative = value < 0 and len(sections) > 1
    zero = value == 0 and len(sections) > 2
    section = _section(sections[2 if zero else 1 if negative else 0])
    return _formatted(abs(value) if negative else value, section)


def elapsed(value: dt.timedelta, number_format: str) -> str:
    """Return a duration as hours, minutes and seconds: `26:30`, with seconds where the format has
    them.
    """
    seconds = round(value.total_seconds())
    sign = "-" if seconds < 0 else ""
    hours, remainder = divmod(abs(seconds), 3600)
    minutes, seconds = divmod(remainder, 60)
    has_seconds = "s" in number_format.lower() or seconds
    return f"{sign}{hours}:{minutes:02}" + (f":{seconds:02}" if has_seconds else "")


def _section(text: str) -> _Section:
    before = ""
    behind = ""
    digits = ""
    percents = 0
    is_scientific = False
    for quotation, escape, currency, number, percent, exponent, symbol in _PARTS.findall(text):
        words = (
            quotation
            or escape
            or currency
            or percent
            or (symbol if symbol in " -+()/:€$£¥₽₹" else "")
        )
        percents += bool(percent)
        is_scientific = is_scientific or bool(exponent)
        digits = digits or number
        if digits:
            behind += words
        else:
            before += words
    integer, point, fraction = digits.partition(".")
    trailing = len(digits) - len(digits.rstrip(","))
    return _Section(
        before,
        behind,
        sum(fraction.count(sign) for sign in "0#?") if digits else None,
        fraction.count("0") if point else 0,
        integer.count("0"),
        "," in integer.rstrip(","),
        percents,
        is_scientific,
        trailing,
    )


def _formatted(value: float, section: _Section) -> str:
    if section.decimals is None:  # words instead of a number, as `"none"` for zero
        return (section.before + section.behind).strip() or f"{value:.15g}"
    value = value * 100**section.percents / 1000**section.scale
    if section.is_scientific:
        return f"{section.before}{value:.{section.decimals}E}{section.behind}".strip()
    digits = f"{value:{',' if section.has_thousands else ''}.{section.decimals}f}"
    if not section.has_thousands:
        width = section.least_digits + (section.decimals + 1 if section.decimals else 0)
        digits = digits.zfill(width + (digits[0] == "-"))
    if section.decimals > section.fixed_digits:
        optional = section.decimals - section.fixed_digits
        kept_digits = digits[: len(digits) - optional]
        digits = (kept_digits + digits[len(digits) - optional :].rstrip("0")).rstrip(".")
    return f"{section.before}{digits}{section.behind}".strip()
