"""Ranges of characters by script, for use inside a character class of a regular expression, and
the language that a script tells.
"""

import re
import unicodedata
from collections import Counter
from collections.abc import Mapping

from contracts import names

KANA = names.KANA
"""Hiragana and katakana."""

HAN = names.HAN + r"\u3005\u3007\U00020000-\U0003ffff"
"""Chinese characters, with the marks 々 and 〇 and the supplementary planes."""

HAN_AND_KANA = HAN + KANA
"""What is written without blanks between words in Chinese and Japanese."""

HANGUL = r"\uac00-\ud7a3"
"""Korean syllables."""

LANGUAGES: Mapping[str, str] = {
    "ARABIC": "arabic",
    "ARMENIAN": "armenian",
    "BENGALI": "bengali",
    "DEVANAGARI": "hindi",
    "ETHIOPIC": "amharic",
    "GEORGIAN": "georgian",
    "GREEK": "greek",
    "GUJARATI": "gujarati",
    "GURMUKHI": "punjabi",
    "HANGUL": "korean",
    "HEBREW": "hebrew",
    "KANNADA": "kannada",
    "KHMER": "khmer",
    "LAO": "lao",
    "MALAYALAM": "malayalam",
    "MYANMAR": "burmese",
    "ORIYA": "odia",
    "SINHALA": "sinhala",
    "TAMIL": "tamil",
    "TELUGU": "telugu",
    "THAI": "thai",
    "TIBETAN": "tibetan",
}
"""The language that most texts in a script are in, by the first word of Unicode's names of its
letters. Latin and Cyrillic are the scripts of many, and Chinese characters with or without kana
are told elsewhere.
"""

_LETTERS_THAT_ARABIC_LACKS = {"urdu": "ٹڈڑںے", "persian": "پچژگ"}
"""By the other languages of that script; Urdu has those of Persian too."""

_READ = 400
"""Words that are read of a text to tell its script."""
_FEW = 100
"""Letters of a text in Arabic script among which none that Arabic lacks is expected."""
_WORD = re.compile(r"[^\W\d_]+")


def language_by_script(text: str) -> str:
    """Return the language that the script of a text tells: of one that has more letters than other
    scripts have words, as a Korean text with names of programs; empty where none tells.
    """
    letters: Counter[str] = Counter()
    words: Counter[str] = Counter()
    for word in _WORD.findall(text)[:_READ]:
        script = unicodedata.name(word[0], "").partition(" ")[0]
        letters[script] += len(word)
        words[script] += 1
    script = max(LANGUAGES, key=lambda name: letters[name])
    if letters[script] <= words.total() - words[script]:
        return ""
    return _of_arabic_script(text, letters[script]) if script == "ARABIC" else LANGUAGES[script]


def _of_arabic_script(text: str, letters: int) -> str:
    """Return which of the languages in Arabic script a text of so many letters is in."""
    for language, own_letters in _LETTERS_THAT_ARABIC_LACKS.items():
        if _FEW * sum(map(text.count, own_letters)) > letters:
            return language
    return LANGUAGES["ARABIC"]
