"""Escapes a passage for the prompt, so that nothing in it can be read as a delimiter, and puts it
between fences.

A word joiner, which has no width, goes between the characters of whatever could be read as a
delimiter, so a model that copies from the passage forges no row. `unescape` returns exactly the
text that `escape` was given.
"""

import re

_JOINER = "\u2060"
_BETWEEN = rf"(?:(?<=[<|#]){_JOINER}*(?=\|)|(?<=[<|]){_JOINER}*(?=#)|(?<=[|#]){_JOINER}*(?=>))"
_PAIR = re.compile(_BETWEEN)
_JOINED = re.compile(_BETWEEN.replace(f"{_JOINER}*", f"{_JOINER}+"))
_TICKS = re.compile("`{3,}")


def escape(text: str) -> str:
    """Return the text with a word joiner between any two characters that delimiters are made of."""
    # Most texts have neither mark; each pair has one of them.
    return _PAIR.sub(lambda match: _JOINER + match[0], text) if "|" in text or "#" in text else text


def unescape(text: str) -> str:
    """Return the text that `escape` was given."""
    return _JOINED.sub(lambda match: match[0][1:], text) if _JOINER in text else text


def fence(text: str) -> str:
    """Return the text between two fences that are longer than any inside it."""
    fence = "`" * max([3, *(len(ticks) + 1 for ticks in _TICKS.findall(text))])
    return f"{fence}\n{text}\n{fence}"
