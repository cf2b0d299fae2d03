"""Ranges of characters by script, for use inside a character class of a regular expression."""

from contracts import names

KANA = names.KANA
"""Hiragana and katakana."""

HAN = names.HAN + r"\u3005\u3007\U00020000-\U0003ffff"
"""Chinese characters, with the marks 々 and 〇 and the supplementary planes."""

HAN_AND_KANA = HAN + KANA
"""What is written without blanks between words in Chinese and Japanese."""

HANGUL = r"\uac00-\ud7a3"
"""Korean syllables."""
