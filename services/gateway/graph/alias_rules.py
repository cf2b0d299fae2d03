"""Proposes which names mean the same entity by rules about their letters: rather few and right than
many.

A rule only proposes. Each pair has a name that would become an alias and the entity it would mean;
of two spellings (`SYMMETRIC`) the caller chooses which is which.
"""

import re
import unicodedata
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from itertools import combinations
from typing import Literal, NamedTuple, get_args

from anyascii import anyascii

from contracts.names import fold
from offline.language.scripts import HAN_AND_KANA, HANGUL

AliasRule = Literal["spelling", "plural", "title", "abbreviation", "surname"]
RULES: tuple[AliasRule, ...] = get_args(AliasRule)
SYMMETRIC: frozenset[AliasRule] = frozenset({"spelling"})

MAX_SPELLINGS = 8
"""Names of one spelling that are compared with each other; more of them are no names."""
MIN_LETTERS = 3
"""Letters and digits below which two spellings, or a surname, say too little."""

_UNTOLD = frozenset({"", "other", "unknown"})
"""Types that say nothing: such an entity may be of any other type."""
_PROPER = frozenset({"person", "location", "geo", "place", "organization", "event"})
"""Types whose names have no plural: Adam is not Adams."""
_TITLES = frozenset(
    {
        "dr",
        "prof",
        "professor",
        "mr",
        "mrs",
        "ms",
        "miss",
        "sir",
        "dame",
        "lord",
        "lady",
        "captain",
        "president",
        "judge",
        "king",
        "queen",
        "herr",
        "frau",
        "madame",
    }
)
_SMALL_WORDS = frozenset(
    {
        "a",
        "an",
        "and",
        "at",
        "by",
        "for",
        "from",
        "in",
        "of",
        "on",
        "or",
        "the",
        "to",
        "with",
        "de",
        "des",
        "del",
        "der",
        "die",
        "das",
        "du",
        "et",
        "für",
        "la",
        "le",
        "les",
        "und",
        "von",
        "y",
    }
)
_LETTERS = str.maketrans(
    {
        "ß": "ss",
        "æ": "ae",
        "œ": "oe",
        "ø": "o",
        "đ": "d",
        "ð": "d",
        "ł": "l",
        "þ": "th",
        "ı": "i",
    }
)
_UMLAUTS = str.maketrans({"ä": "ae", "ö": "oe", "ü": "ue", "ø": "oe", "å": "aa"})
_BETWEEN_DIGITS = re.compile(r"(?<=\d)[^\w]+(?=\d)")
_DROPPED = re.compile(r"[\s\-‐-―.'’´`_]+")
_ABBREVIATION = re.compile(r"(?=(?:.*[A-Z]){2})[A-Z][A-Z0-9&]{1,7}")
_BRACKETED = re.compile(r"(\S.*?) ?\(([^()]{2,12})\)")
_NO_LETTER_CASE = re.compile(f"[{HAN_AND_KANA}{HANGUL}]")
_WORD = re.compile(r"[^\W_]+(?:['’][^\W_]+)?")


class Named(NamedTuple):
    """The name and the type of an entity."""

    name: str
    type: str


class Pair(NamedTuple):
    """Two names that may mean the same, and the rule that says so."""

    name: str
    target: str
    rule: AliasRule


def pairs(entities: Iterable[tuple[str, str]]) -> list[Pair]:
    """Return what the rules propose for these names and types, each pair of names once, in the
    order of `RULES`.
    """
    named = [Named(name, type.lower()) for name, type in entities]
    pair_of: dict[frozenset[str], Pair] = {}
    for rule in (_spellings, _plurals, _titles, _abbreviations, _surnames):
        for pair in rule(named):
            pair_of.setdefault(frozenset((pair.name, pair.target)), pair)
    return list(pair_of.values())


def spelling_keys(name: str) -> set[str]:
    """Return what the spellings of a name have in common: without case, accents, hyphens, blanks
    and full stops.

    ä, ö, ü, ø and å have two: ü is written u and ue. In another script a name has its Latin letters
    too. Between digits a separator stays: 3.11 is not 311.
    """
    folded = fold(name)
    if folded.isascii():
        keys = {_plain(folded)}
    else:
        keys = {_plain(folded), _plain(folded.translate(_UMLAUTS)), _plain(anyascii(name).lower())}
    return {key for key in keys if len(key) >= MIN_LETTERS}


@lru_cache(maxsize=1 << 14)
def _plain(folded: str) -> str:
    decomposed = unicodedata.normalize("NFKD", folded.translate(_LETTERS))
    plain = "".join(letter for letter in decomposed if not unicodedata.combining(letter))
    return _DROPPED.sub("", _BETWEEN_DIGITS.sub("|", plain))


def _compatible(entity: Named, other: Named) -> bool:
    return entity.type == other.type or entity.type in _UNTOLD or other.type in _UNTOLD


def _spellings(named: Sequence[Named]) -> Iterator[Pair]:
    groups: dict[str, list[Named]] = defaultdict(list)
    for entity in named:
        for key in spelling_keys(entity.name):
            groups[key].append(entity)
    for group in groups.values():
        if len(group) <= MAX_SPELLINGS:
            for entity, other in combinations(sorted(group), 2):
                if _compatible(entity, other) and not _differ_in_kind(entity, other):
                    yield Pair(entity.name, other.name, "spelling")


def _differ_in_kind(entity: Named, other: Named) -> bool:
    """Return whether case tells two short or single words apart: IT and it; polish and Polish of
    unlike types.
    """
    if _is_abbreviation(entity.name) != _is_abbreviation(other.name):
        return True
    same_but_case = entity.name.casefold() == other.name.casefold()
    return same_but_case and " " not in entity.name and entity.type != other.type


def _plurals(named: Sequence[Named]) -> Iterator[Pair]:
    by_folded = {fold(entity.name): entity for entity in named if entity.type not in _PROPER}
    for folded, entity in by_folded.items():
        for singular in _singulars(folded):
            other = by_folded.get(singular)
            if other and _compatible(entity, other):
                yield Pair(entity.name, other.name, "plural")


def _singulars(folded: str) -> list[str]:
    """Return the singulars that a name may be the plural of, its last word of at least four
    letters.
    """
    if len(folded.rpartition(" ")[2]) < MIN_LETTERS + 2 or folded.endswith(("ss", "us", "is")):
        return []
    singulars = [folded[:-1]] if folded.endswith("s") else []
    if folded.endswith(("ses", "xes", "zes", "ches", "shes")):
        singulars.append(folded[:-2])
    if folded.endswith("ies"):
        singulars.append(folded[:-3] + "y")
    return singulars


def _titles(named: Sequence[Named]) -> Iterator[Pair]:
    by_folded = {fold(entity.name): entity for entity in named}
    for folded, entity in by_folded.items():
        rest = _without_title(folded)
        other = by_folded.get(rest)
        if other and rest != folded and _compatible(entity, other):
            yield Pair(entity.name, other.name, "title")


def _without_title(folded: str) -> str:
    """Return a folded name without its title, if at least two words are left, and without its
    article.
    """
    first, _, rest = folded.partition(" ")
    if first.rstrip(".") in _TITLES and " " in rest:
        return _without_title(rest)
    return rest if first == "the" and len(rest) > MIN_LETTERS else folded


def _abbreviations(named: Sequence[Named]) -> Iterator[Pair]:
    by_initials: dict[str, list[Named]] = defaultdict(list)
    for entity in named:
        for initials in _initials(entity.name):
            by_initials[initials].append(entity)
    names = {entity.name: entity for entity in named}
    for entity in named:
        if bracketed := _BRACKETED.fullmatch(entity.name):
            outer, inner = bracketed[1], bracketed[2].replace(".", "")
            if inner in _initials(outer):
                yield from (
                    Pair(other, entity.name, "abbreviation")
                    for other in (outer, inner)
                    if other in names
                )
        elif _is_abbreviation(entity.name):
            meant = [
                other
                for other in by_initials.get(entity.name.replace(".", ""), ())
                if _compatible(entity, other)
            ]
            if len(meant) == 1:
                yield Pair(entity.name, meant[0].name, "abbreviation")


def _is_abbreviation(name: str) -> bool:
    return _ABBREVIATION.fullmatch(name.replace(".", "")) is not None


def _initials(name: str) -> set[str]:
    """Return the initials of a name of several words, with and without its small words."""
    words = _WORD.findall(name)
    if len(words) < 2 or max(map(len, words)) == 1 or _NO_LETTER_CASE.search(name) or "(" in name:
        return set()
    telling = [word for word in words if word.lower() not in _SMALL_WORDS]
    abbreviations = {"".join(word[0] for word in some).upper() for some in (words, telling)}
    return {initials for initials in abbreviations if len(initials) > 1}


def _surnames(named: Sequence[Named]) -> Iterator[Pair]:
    """Yield short names of persons that only one person's full name can stand for."""
    full: dict[str, list[Named]] = defaultdict(list)
    shorts: list[tuple[Named, str, str]] = []
    for entity in named:
        if entity.type != "person" and entity.type not in _UNTOLD:
            continue
        words = fold(entity.name).split()
        titled = words[0].rstrip(".") in _TITLES if words else False
        rest = words[1:] if titled else words
        initial = rest[0].rstrip(".") if len(rest) == 2 and len(rest[0].rstrip(".")) == 1 else ""
        if len(rest) == 1 or initial:
            shorts.append((entity, initial, rest[-1]))
        elif rest and not titled:
            full[rest[-1]].append(entity)
    for short, initial, surname in shorts:
        meant = [
            entity for entity in full.get(surname, ()) if fold(entity.name).startswith(initial)
        ]
        if len(meant) == 1 and meant[0].type == "person" and len(surname) >= MIN_LETTERS:
            yield Pair(short.name, meant[0].name, "surname")


def definition(text: str, name: str, other_name: str) -> str:
    """Return where a text says `name (other name)` or the reverse, as it stands there; empty if
    nowhere.
    """
    for outer, inner in ((name, other_name), (other_name, name)):
        pattern = rf"{re.escape(outer)}[\"”’]? ?\([\"“‘]?{re.escape(inner)}[\"”’]?\)"
        if match := re.search(pattern, text, re.IGNORECASE):
            return match[0]
    return ""
