"""What ties two names of a sentence: the phrase between them, a definition, another name for the same thing."""

import re
from collections.abc import Sequence

from runtime.text.han import HAN_ALIAS, HAN_VERBS
from runtime.text.names import Name
from runtime.text.sentences import Sentence
from runtime.text.terms import Word, is_content, words
from runtime.text.words import FOREIGN_OPENERS, PREPOSITIONS

TOGETHER = "mentioned together"
ALIAS = "also called"
ABBREVIATION = "abbreviation"
DEFINITION = "definition"

_LONGEST_PHRASE = 4
"""Words."""
_ALSO = re.compile(
    r"[\s,(（，]*(?:also (?:known|called|named|written|referred to)(?: as)?|(?:better|formerly|previously) known as"
    r"|a\.?k\.?a\.?|abbreviated(?: as| to)?|formerly|dit|auch|también llamad[oa]"
    + rf"|{HAN_ALIAS})\s*(?:(?:the|an?)\s+)?[\"“'《「]?",
    re.IGNORECASE,
)
_DEFINES = re.compile(
    r"[\s)\]”\"']*(?:\([^()]{0,80}\)\s*)?(?:(?:is|was|are|were) (?:an?|the|one|any|another|both|each)\b"
    r"|(?:means|refers to|denotes)\b|,\s+(?:an?|the)\b"
    r"|(?:ist|war) (?:ein|der|die|das)|(?:est|était) (?:une?|le|la)\b|(?:es|era|fue) (?:una?|el|la)\b)"
)
_DEFINES_HAN = re.compile(r"[》”」』]?(?:[（(][^（）()]{0,80}[）)])?(?:是|指|为|とは|は)")
_CLAUSE = re.compile(r"[，。；：！？,;:]")
_BREAK = re.compile(r"[;:|。；：]")


def defines(text: str, name: Name, sentence: Sentence) -> bool:
    """Whether the sentence goes on to say what the name names."""
    following = text[name.end : min(name.end + 100, sentence.end)]
    return _DEFINES.match(following) is not None or _DEFINES_HAN.match(following) is not None


def tie(text: str, left: Name, right: Name, sentence: Sentence) -> list[str]:
    """Keywords for the tie of two names that follow each other in a sentence, the most telling first; never empty."""
    between = text[left.end : right.start]
    if _ALSO.fullmatch(between):
        return [ALIAS]
    if between.strip() in ("(", "（") and _abbreviates(left.text, right.text):
        return [ABBREVIATION]
    phrase = _predicate(words(text, left.end, right.start)) or _han_verb(text, left, right, sentence)
    found = [phrase] if phrase else []
    if not found and not _BREAK.search(between):
        found = _said_of_both(text, right, sentence)
    if found and defines(text, left, sentence):
        found.append(DEFINITION)
    return found or [TOGETHER]


def _abbreviates(one: str, other: str) -> bool:
    """Whether one of them is made of the initials of the other."""
    long, short = (one, other) if len(one) > len(other) else (other, one)
    initials = "".join(word[0] for word in re.split(r"[\s\-&]+", long) if word)
    capitals = "".join(letter for letter in initials if letter.isupper())
    return len(short) > 1 and short.replace(".", "") in (capitals, initials.upper())


def _predicate(between: Sequence[Word]) -> str:
    """The words that join two names: from the first that says something to the last preposition, without articles."""
    said = [word for word in between if _says(word) or word.lower in PREPOSITIONS]
    while said and not _says(said[0]):
        said = said[1:]
    if len(said) > _LONGEST_PHRASE:
        said = [said[0], said[-1]] if said[-1].lower in PREPOSITIONS else said[:_LONGEST_PHRASE]
    return " ".join(word.lower for word in said)


def _han_verb(text: str, left: Name, right: Name, sentence: Sentence) -> str:
    """The verb between two names in Chinese, else the one behind them in their clause."""
    stop = _CLAUSE.search(text, right.end, sentence.end)
    verb = HAN_VERBS.search(text, left.end, right.start) or HAN_VERBS.search(
        text, right.end, stop.start() if stop else sentence.end
    )
    return verb[0] if verb else ""


def _said_of_both(text: str, right: Name, sentence: Sentence) -> list[str]:
    """The phrase behind the second of two names that stand side by side."""
    stop = re.compile(r"[,;:.()|]").search(text, right.end, sentence.end)
    behind = words(text, right.end, stop.start() if stop else sentence.end)
    phrase = _predicate([word for word in behind if word.shape != "proper"][:_LONGEST_PHRASE])
    return [phrase] if phrase else []


def _says(word: Word) -> bool:
    return word.shape == "plain" and is_content(word) and word.lower not in FOREIGN_OPENERS
