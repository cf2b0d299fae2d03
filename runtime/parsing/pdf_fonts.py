"""Whether the text layer of a PDF is text: fonts may draw letters without saying which."""

import unicodedata

import pypdfium2

FEWEST = 20
"""Characters without a letter that are no mere signs and accents of an old font."""

MAX_LOOKED_AT = 4000
"""Characters of a page that are looked at."""

_WORDS = (
    "the of and to in is that for was with der die das und ist den mit von le la les et des est "
    "une que el los las en del por il di che per een het van og det att och na i w z do"
)
_COMMON = frozenset(_WORDS.split())
"""Words that stand in every text of some languages with Latin letters."""

_FEWEST_COMMON = 0.1
"""Share of common words with which a text is language, whatever its fonts say."""

_NO_LETTERS = {"Co", "Cn", "Cs", "Cc"}
"""Categories of Unicode that no text has: private use, unassigned, halves, controls."""


def is_language(text: str) -> bool:
    """Return whether a text has many common words: then a font that says nothing draws what its
    codes say.
    """
    words = [word.strip(".,;:()").lower() for word in text.split()]
    return sum(word in _COMMON for word in words) >= max(1.0, _FEWEST_COMMON * len(words))


def unreadable_share(layer: pypdfium2.PdfTextPage) -> float:
    """Return the share of the characters of a page, blanks aside, for which there is no letter."""
    count = layer.count_chars()
    step = max(1, count // MAX_LOOKED_AT)
    looked_at = bad_count = 0
    for index in range(0, count, step):
        code = pypdfium2.raw.FPDFText_GetUnicode(layer, index)
        if code <= 0x20 or code == 0xA0:
            continue
        looked_at += 1
        has_no_map = pypdfium2.raw.FPDFText_HasUnicodeMapError(layer, index) == 1
        bad_count += has_no_map or code == 0xFFFD or unicodedata.category(chr(code)) in _NO_LETTERS
    return bad_count / looked_at if bad_count >= FEWEST else 0.0
