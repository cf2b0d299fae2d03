"""Proposes which names mean the same entity by rules about their letters: rather few and right than
many.

A rule only proposes. Each pair has a name that would become an alias and the entity it would mean;
of two spellings (`SYMMETRIC`) the caller chooses which is which.
"""

import re
import unicodedata
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Sequence
from functools import lru_cache
from itertools import combinations
from typing import Literal, NamedTuple, get_args

from anyascii import anyascii

from contracts.names import fold
from offline.language.scripts import HAN_AND_KANA, HANGUL
from services.gateway.graph.name_forms import (
    MIN_LETTERS,
    PROPER_TYPES,
    UNTOLD_TYPES,
    Named,
    is_abbreviation,
    singulars,
)
from services.gateway.graph.same_names import same_names

AliasRule = Literal["spelling", "plural", "title", "abbreviation", "surname", "same"]
RULES: tuple[AliasRule, ...] = get_args(AliasRule)
SYMMETRIC: frozenset[AliasRule] = frozenset({"spelling"})

MAX_SPELLINGS = 8
"""Names of one spelling that are compared with each other; more of them are no names."""

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
_BRACKETED = re.compile(r"(\S.*?) ?\(([^()]{2,12})\)")
_NO_LETTER_CASE = re.compile(f"[{HAN_AND_KANA}{HANGUL}]")
_WORD = re.compile(r"[^\W_]+(?:['’][^\W_]+)?")


class Pair(NamedTuple):
    """Two names that may mean the same, and the rule that says so."""

    name: str
    target: str
    rule: AliasRule


def pairs(entities: Iterable[tuple[str, str]], rules: Collection[AliasRule] = RULES) -> list[Pair]:
    """Return what these rules propose for these names and types, each pair of names once, in the
    order of `RULES`.
    """
    named_entities = [Named(name, type.lower()) for name, type in entities]
    pair_of: dict[frozenset[str], Pair] = {}
    finders = (_spellings, _plurals, _titles, _abbreviations, _surnames, _same_names)
    for rule, find in zip(RULES, finders, strict=True):
        for pair in find(named_entities) if rule in rules else ():
            pair_of.setdefault(frozenset((pair.name, pair.target)), pair)
    return list(pair_of.values())


def spelling_keys(name: str) -> set[str]:
    """Return what the spellings of a name have in common: without case, accents, hyphens, blanks
    and full stops.

    ä, ö, ü, ø and å have two: ü is written u and ue. In another script a name has its Latin letters
    too. Between digits a separator stays: 3.11 is not 311.
    """
    folded_name = fold(name)
    if folded_name.isascii():
        keys = {_plain(folded_name)}
    else:
        keys = {
            _plain(folded_name),
            _plain(folded_name.translate(_UMLAUTS)),
            _plain(anyascii(name).lower()),
        }
    return {key for key in keys if len(key) >= MIN_LETTERS}


@lru_cache(maxsize=1 << 14)
def _plain(folded_name: str) -> str:
    decomposition = unicodedata.normalize("NFKD", folded_name.translate(_LETTERS))
    base_letters = "".join(letter for letter in decomposition if not unicodedata.combining(letter))
    return _DROPPED.sub("", _BETWEEN_DIGITS.sub("|", base_letters))


def _compatible(entity: Named, candidate: Named) -> bool:
    return (
        entity.type == candidate.type
        or entity.type in UNTOLD_TYPES
        or candidate.type in UNTOLD_TYPES
    )


def _same_names(entities: Sequence[Named]) -> Iterator[Pair]:
    for name, target in same_names(entities):
        yield Pair(name, target, "same")


def _spellings(entities: Sequence[Named]) -> Iterator[Pair]:
    groups: dict[str, list[Named]] = defaultdict(list)
    for entity in entities:
        for key in spelling_keys(entity.name):
            groups[key].append(entity)
    for group in groups.values():
        if len(group) <= MAX_SPELLINGS:
            for entity, candidate in combinations(sorted(group), 2):
                if _compatible(entity, candidate) and not _differ_in_kind(entity, candidate):
                    yield Pair(entity.name, candidate.name, "spelling")


def _differ_in_kind(entity: Named, candidate: Named) -> bool:
    """Return whether case tells two short or single words apart: IT and it; polish and Polish of
    unlike types.
    """
    if is_abbreviation(entity.name) != is_abbreviation(candidate.name):
        return True
    same_but_case = entity.name.casefold() == candidate.name.casefold()
    return same_but_case and " " not in entity.name and entity.type != candidate.type


def _plurals(entities: Sequence[Named]) -> Iterator[Pair]:
    by_folded = {
        fold(entity.name): entity for entity in entities if entity.type not in PROPER_TYPES
    }
    for folded_name, entity in by_folded.items():
        for singular in singulars(folded_name):
            candidate = by_folded.get(singular)
            if candidate and _compatible(entity, candidate):
                yield Pair(entity.name, candidate.name, "plural")


def _titles(entities: Sequence[Named]) -> Iterator[Pair]:
    by_folded = {fold(entity.name): entity for entity in entities}
    for folded_name, entity in by_folded.items():
        untitled_name = _without_title(folded_name)
        candidate = by_folded.get(untitled_name)
        if candidate and untitled_name != folded_name and _compatible(entity, candidate):
            yield Pair(entity.name, candidate.name, "title")


def _without_title(folded_name: str) -> str:
    """Return a folded name without its title, if at least two words are left, and without its
    article.
    """
    first, _, untitled_name = folded_name.partition(" ")
    if first.rstrip(".") in _TITLES and " " in untitled_name:
        return _without_title(untitled_name)
    return untitled_name if first == "the" and len(untitled_name) > MIN_LETTERS else folded_name


def _abbreviations(entities: Sequence[Named]) -> Iterator[Pair]:
    by_initials: dict[str, list[Named]] = defaultdict(list)
    for entity in entities:
        for initials in _initials(entity.name):
            by_initials[initials].append(entity)
    names = {entity.name: entity for entity in entities}
    for entity in entities:
        if match := _BRACKETED.fullmatch(entity.name):
            outer = match[1]
            inner = match[2].replace(".", "")
            if inner in _initials(outer):
                yield from (
                    Pair(name, entity.name, "abbreviation")
                    for name in (outer, inner)
                    if name in names
                )
        elif is_abbreviation(entity.name):
            meanings = [
                candidate
                for candidate in by_initials.get(entity.name.replace(".", ""), ())
                if _compatible(entity, candidate)
            ]
            if len(meanings) == 1:
                yield Pair(entity.name, meanings[0].name, "abbreviation")


def _initials(name: str) -> set[str]:
    """Return the initials of a name of several words, with and without its small words."""
    words = _WORD.findall(name)
    if len(words) < 2 or max(map(len, words)) == 1 or _NO_LETTER_CASE.search(name) or "(" in name:
        return set()
    telling = [word for word in words if word.lower() not in _SMALL_WORDS]
    abbreviations = {
        "".join(word[0] for word in chosen_words).upper() for chosen_words in (words, telling)
    }
    return {initials for initials in abbreviations if len(initials) > 1}


def _surnames(entities: Sequence[Named]) -> Iterator[Pair]:
    """Yield short names of persons that only one person's full name can stand for."""
    by_surname: dict[str, list[Named]] = defaultdict(list)
    shorts: list[tuple[Named, str, str]] = []
    for entity in entities:
        if entity.type != "person" and entity.type not in UNTOLD_TYPES:
            continue
        words = fold(entity.name).split()
        has_title = words[0].rstrip(".") in _TITLES if words else False
        name_words = words[1:] if has_title else words
        initial = (
            name_words[0].rstrip(".")
            if len(name_words) == 2 and len(name_words[0].rstrip(".")) == 1
            else ""
        )
        if len(name_words) == 1 or initial:
            shorts.append((entity, initial, name_words[-1]))
        elif name_words and not has_title:
            by_surname[name_words[-1]].append(entity)
    for short_entity, initial, surname in shorts:
        bearers = [
            entity
            for entity in by_surname.get(surname, ())
            if fold(entity.name).startswith(initial)
        ]
        if len(bearers) == 1 and bearers[0].type == "person" and len(surname) >= MIN_LETTERS:
            yield Pair(short_entity.name, bearers[0].name, "surname")


def definition(text: str, name: str, other_name: str) -> str:
    """Return where a text says `name (other name)` or the reverse, as it stands there; empty if
    nowhere.
    """
    for outer, inner in ((name, other_name), (other_name, name)):
        pattern = rf"{re.escape(outer)}[\"”’]? ?\([\"“‘]?{re.escape(inner)}[\"”’]?\)"
        if match := re.search(pattern, text, re.IGNORECASE):
            return match[0]
    return ""
