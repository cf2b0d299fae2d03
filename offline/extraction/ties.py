"""Finds how two names in a sentence are related: by a phrase, a definition, or as names of the same
thing.
"""

import re
from collections.abc import Sequence

from offline.language.han import HAN_ALIAS, HAN_VERBS
from offline.language.names import Name
from offline.language.sentences import Sentence
from offline.language.terms import Word, is_content, words
from offline.language.word_lists import FOREIGN_OPENERS, PREPOSITIONS

TOGETHER = "mentioned together"
ALIAS = "also called"
ABBREVIATION = "abbreviation"
DEFINITION = "definition"

_LONGEST_PHRASE = 4
"""Words of a phrase that becomes a keyword."""
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
    """Return whether the sentence defines the name right after it."""
    following = text[name.end : min(name.end + 100, sentence.end)]
    return _DEFINES.match(following) is not None or _DEFINES_HAN.match(following) is not None


def tie(text: str, earlier: Name, later: Name, sentence: Sentence) -> list[str]:
    """Return keywords, at least one, for the relation of two names in a sentence, the most
    informative first.
    """
    between = text[earlier.end : later.start]
    if _ALSO.fullmatch(between):
        return [ALIAS]
    if between.strip() in ("(", "（") and _abbreviates(earlier.text, later.text):
        return [ABBREVIATION]
    phrase = _predicate(words(text, earlier.end, later.start)) or _han_verb(
        text, earlier, later, sentence
    )
    keywords = [phrase] if phrase else []
    if not keywords and not _BREAK.search(between):
        keywords = _phrase_after(text, later, sentence)
    if keywords and defines(text, earlier, sentence):
        keywords.append(DEFINITION)
    return keywords or [TOGETHER]


def _abbreviates(name: str, other_name: str) -> bool:
    """Return whether one of them consists of the initials of the other."""
    long_name, short_name = (
        (name, other_name) if len(name) > len(other_name) else (other_name, name)
    )
    initials = "".join(word[0] for word in re.split(r"[\s\-&]+", long_name) if word)
    capitals = "".join(letter for letter in initials if letter.isupper())
    return len(short_name) > 1 and short_name.replace(".", "") in (capitals, initials.upper())


def _predicate(between: Sequence[Word]) -> str:
    """Return the phrase that joins two names: content words and prepositions, beginning with a
    content word.
    """
    phrase = [word for word in between if _is_content_word(word) or word.lower in PREPOSITIONS]
    while phrase and not _is_content_word(phrase[0]):
        phrase = phrase[1:]
    if len(phrase) > _LONGEST_PHRASE:
        phrase = (
            [phrase[0], phrase[-1]]
            if phrase[-1].lower in PREPOSITIONS
            else phrase[:_LONGEST_PHRASE]
        )
    return " ".join(word.lower for word in phrase)


def _han_verb(text: str, earlier: Name, later: Name, sentence: Sentence) -> str:
    """Return the Chinese verb between two names, else the one behind them in their clause, else an
    empty text.
    """
    stop = _CLAUSE.search(text, later.end, sentence.end)
    verb = HAN_VERBS.search(text, earlier.end, later.start) or HAN_VERBS.search(
        text, later.end, stop.start() if stop else sentence.end
    )
    return verb[0] if verb else ""


def _phrase_after(text: str, later: Name, sentence: Sentence) -> list[str]:
    """Return the phrase behind the second of two names that stand side by side, if there is one."""
    stop = re.compile(r"[,;:.()|]").search(text, later.end, sentence.end)
    behind = words(text, later.end, stop.start() if stop else sentence.end)
    phrase = _predicate([word for word in behind if word.shape != "proper"][:_LONGEST_PHRASE])
    return [phrase] if phrase else []


def _is_content_word(word: Word) -> bool:
    return word.shape == "plain" and is_content(word) and word.lower not in FOREIGN_OPENERS
