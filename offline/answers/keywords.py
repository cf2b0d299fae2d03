"""Keywords of a question without a language model: low-level ones are names and words, high-level
ones themes.
"""

from collections.abc import Iterator

from offline.language.han import runs
from offline.language.names import names
from offline.language.terms import Word, is_content, without_addresses, words

MOST = 12
"""Most keywords of each level."""

_LONGEST_THEME = 200
_LONGEST = 4_000
_ASKING = frozenset(
    {"tell", "explain", "describe", "list", "compare", "summarize", "show", "name", "give", "find"}
)


def keywords(question: str) -> tuple[list[str], list[str]]:
    """(high-level, low-level) keywords of a question, at most 12 each.

    Low: the names, then the remaining content words. High: phrases of several content words, else
    the question itself, cut at 200 characters. Both are empty only for a blank question. Only the
    first 4,000 characters count.
    """
    question = question.strip()[:_LONGEST]
    theme = " ".join(question.split())[:_LONGEST_THEME].strip()
    if not theme:
        return [], []
    question_names = names(question)
    text = without_addresses(question)
    in_names = {offset for name in question_names for offset in range(name.start, name.end)}
    content = [word for word in words(text) if word.start not in in_names and _is_keyword(word)]
    han = [run.text for run in runs(text) if run.start not in in_names]
    low = [*(name.text for name in question_names), *han, *(word.lower for word in content)]
    phrases = [phrase for phrase in _phrases(text, content) if " " in phrase]
    return _distinct(phrases) or [theme.rstrip("?？!！。. ") or theme], _distinct(low)


def _is_keyword(word: Word) -> bool:
    return is_content(word) and word.lower not in _ASKING


def _phrases(text: str, content: list[Word]) -> Iterator[str]:
    """Yield runs of adjacent content words, joined by blanks."""
    phrase: list[Word] = []
    for word in content:
        if phrase and text[phrase[-1].end : word.start].strip(" "):
            yield " ".join(part.lower for part in phrase)
            phrase = []
        phrase.append(word)
    if phrase:
        yield " ".join(part.lower for part in phrase)


def _distinct(texts: list[str]) -> list[str]:
    return list({keyword.casefold(): keyword for keyword in reversed(texts)}.values())[::-1][:MOST]
