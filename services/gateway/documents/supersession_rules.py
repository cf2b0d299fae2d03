"""Which documents may supersede which, by their names alone."""

import re
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from itertools import pairwise

MAX_ISSUES = 12
"""Dates of one series from which on it is a journal, whose later entries leave the earlier ones in
force.
"""


class Rule(StrEnum):
    """What may tell that one document supersedes another, the surest first."""

    VERSION = "version"
    AMENDMENT = "amendment"
    DATE = "date"


RULES = tuple(Rule)


@dataclass(frozen=True)
class NamedDocument:
    """A document as rules see it."""

    id: str
    file_path: str


@dataclass(frozen=True)
class Supersession:
    """A document that may supersede another one, by which rule and why."""

    successor: NamedDocument
    predecessor: NamedDocument
    rule: Rule
    evidence: str


@dataclass(frozen=True)
class _Issue:
    """A document of a series: what its name says of its place there, as written and as numbers."""

    document: NamedDocument
    label: str
    place: tuple[int, ...]


_SEPARATORS = re.compile(r"[\s_.,()\[\]–-]+")
_VERSION = re.compile(
    r"(?<![a-z0-9])(?:version|revision|edition|draft|rev|ver|ed|v)[\s_.-]?(\d+(?:[._]\d+){0,3})(?![a-z0-9])"
)
_DATE = re.compile(
    r"(?<!\d)((?:19|20)\d\d)"
    r"(?:[-_. ]?(?:q([1-4])|(0[1-9]|1[0-2])(?:[-_. ]?(0[1-9]|[12]\d|3[01]))?))?(?!\d)"
)
_AMENDMENT = re.compile(
    r"(?<![^\W\d_])(amendment|addendum|erratum|errata|corrigendum|änderung|nachtrag|avenant|enmienda"
    r"|поправки|修订|修正案)(?![^\W\d_])"
)
_ORDINAL = re.compile(r"(?:(?:no|nr)[\s_.-]*)?\d{1,3}")


def supersessions(
    documents: Iterable[NamedDocument], rules: Collection[Rule] = RULES
) -> list[Supersession]:
    """Return which of the documents may supersede which, the surest first; each pair once.

    Names that differ by a version or a date alone are of one series, in which each document may
    supersede the one before it. A name that says it amends another one may supersede that.
    """
    by_path = sorted(documents, key=lambda document: (document.file_path, document.id))
    of_rule = {
        Rule.VERSION: _by_version,
        Rule.AMENDMENT: _by_amendment,
        Rule.DATE: _by_date,
    }
    pairs: dict[frozenset[str], Supersession] = {}
    for rule in RULES:
        if rule in rules:
            for item in of_rule[rule](by_path):
                pairs.setdefault(frozenset((item.successor.id, item.predecessor.id)), item)
    return list(pairs.values())


def _by_version(documents: Sequence[NamedDocument]) -> Iterator[Supersession]:
    for issues in _series(documents, _VERSION):
        for predecessor, successor in pairwise(issues):
            evidence = f"the same name but for “{predecessor.label}” and “{successor.label}”"
            yield Supersession(successor.document, predecessor.document, Rule.VERSION, evidence)


def _by_date(documents: Sequence[NamedDocument]) -> Iterator[Supersession]:
    for issues in _series(documents, _DATE):
        if len(issues) > MAX_ISSUES:
            continue
        for predecessor, successor in pairwise(issues):
            evidence = f"the same name but for the dates {predecessor.label} and {successor.label}"
            yield Supersession(successor.document, predecessor.document, Rule.DATE, evidence)


def _by_amendment(documents: Sequence[NamedDocument]) -> Iterator[Supersession]:
    by_words: dict[str, list[NamedDocument]] = defaultdict(list)
    for document in documents:
        by_words[_words(document.file_path)].append(document)
    for document in documents:
        stem, extension = _parts(document.file_path)
        if not (match := _AMENDMENT.search(stem)):
            continue
        remainder = _ORDINAL.sub(" ", stem[match.end() :], count=1)
        base = _words(f"{stem[: match.start()]} {remainder}{extension}")
        for predecessor in by_words.get(base, ()):
            evidence = f"its name says “{match[1]}” beside the name of the other"
            yield Supersession(document, predecessor, Rule.AMENDMENT, evidence)


def _series(documents: Sequence[NamedDocument], label: re.Pattern[str]) -> Iterator[list[_Issue]]:
    """Return the documents whose names are equal but for this label, in the order of the labels."""
    by_remainder: dict[str, dict[tuple[int, ...], _Issue]] = defaultdict(dict)
    for document in documents:
        stem, extension = _parts(document.file_path)
        for match in label.finditer(stem):
            remainder = _words(f"{stem[: match.start()]}\0{stem[match.end() :]}{extension}")
            place = tuple(int(group) for group in _numbers(match))
            issue = _Issue(document, match[0].strip(" _.-"), place)
            by_remainder[remainder].setdefault(place, issue)
    for issues in by_remainder.values():
        if len(issues) > 1:
            yield [issues[place] for place in sorted(issues)]


def _numbers(match: re.Match[str]) -> list[str]:
    return [
        number for group in match.groups() if group for number in re.split(r"[._]", group) if number
    ]


def _parts(file_path: str) -> tuple[str, str]:
    """Return the name in small letters without its extension, and that."""
    stem, dot, extension = file_path.casefold().rpartition(".")
    is_extension = (
        bool(stem) and extension.isalnum() and len(extension) <= 5 and not extension.isdigit()
    )
    return (stem, f"{dot}{extension}") if is_extension else (file_path.casefold(), "")


def _words(name: str) -> str:
    return _SEPARATORS.sub(" ", name.casefold()).replace(" /", "/").replace("/ ", "/").strip()
