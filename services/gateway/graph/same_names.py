"""Groups of names that differ by case, article, plural and punctuation alone: a rule sure enough to
be accepted as a whole.

Names are read by what says whether a difference matters: how many words and letters they have, and
the types of the entities. `US` is not `us`, `Apple` the organization not `apple`, `C++` not `C`,
`The Who` not `Who`, and a person or an organization has no plural.
"""

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence

from contracts.names import fold
from services.gateway.graph.name_forms import (
    MIN_LETTERS,
    PROPER_TYPES,
    UNTOLD_TYPES,
    Named,
    is_abbreviation,
    singulars,
)

_ARTICLE = "the "
_SCIENCES = "ics"
"""Physics is no plural."""
_JOINING = re.compile(r"[.'’´`!?\"“”„«»]+")
"""Marks that part no words: `U.S.A.` is `USA`."""
_PARTING = re.compile(r"(?:(?<!\d)[-‐-―_,;:]+|[-‐-―_,;:]+(?!\d)|\s)+")
"""Marks and blanks between words; between digits a mark stays: 3-4 is not 34."""
_POINT = re.compile(r"(?<=\d)\.(?=\d)")


def same_names(entities: Iterable[Named]) -> Iterator[tuple[str, str]]:
    """Yield each name that means the same as another, with the one of its group that stays.

    What it yields depends on the set of entities alone. Joined, none of them is yielded again.
    """
    entities_left = sorted(set(entities))
    targets: dict[str, str] = {}
    # `The number` that has become `numbers` leaves that plural without its singular, and so the
    # same as names that it was not the same as before.
    while joined_names := dict(_joined_at_once(entities_left)):
        targets = {
            name: joined_names.get(target, target) for name, target in targets.items()
        } | joined_names
        entities_left = [entity for entity in entities_left if entity.name not in joined_names]
    yield from sorted(targets.items())


def _joined_at_once(entities: Sequence[Named]) -> Iterator[tuple[str, str]]:
    groups: defaultdict[tuple[str, bool], list[Named]] = defaultdict(list)
    for entity, key in _keys(entities).items():
        groups[key, is_abbreviation(_without_article(entity.name))].append(entity)
    for (key, _), group in groups.items():
        for same_group in _of_one_kind(group):
            first, *doubles = sorted(same_group, key=lambda entity: _rank(entity.name, key))
            yield from ((double.name, first.name) for double in doubles)


def _keys(entities: Sequence[Named]) -> dict[Named, str]:
    """Return what the names of a group have in common, by entity; a plural has the key of its
    singular where that is there.
    """
    keys = {entity: _plain(entity.name) for entity in entities}
    keys = {
        entity: key
        for entity, key in keys.items()
        if len(key) >= MIN_LETTERS or is_abbreviation(entity.name)
    }
    singular_keys = {key for entity, key in keys.items() if entity.type not in PROPER_TYPES}
    for entity, key in keys.items():
        has_plural = entity.type not in PROPER_TYPES | UNTOLD_TYPES
        if has_plural and not key.endswith(_SCIENCES):
            singular = next((form for form in singulars(key) if form in singular_keys), key)
            keys[entity] = singular
    return keys


def _plain(name: str) -> str:
    """Return a name without case, article and marks."""
    text = _POINT.sub("\0", fold(_without_article(name)))
    return _PARTING.sub(" ", _JOINING.sub("", text)).replace("\0", ".").strip()


def _without_article(name: str) -> str:
    """Return a name without `The`, unless too little is left of it."""
    bare_name = name[len(_ARTICLE) :].strip()
    has_article = name[: len(_ARTICLE)].lower() == _ARTICLE
    return bare_name if has_article and len(bare_name) > MIN_LETTERS else name


def _of_one_kind(group: Sequence[Named]) -> Iterator[list[Named]]:
    """Yield the parts of a group whose types fit together.

    Names of several words are the same whatever their types, unless one names a person, place or
    organization and the other does not. Types that say nothing fit only where the others agree.
    """
    by_kind: defaultdict[str, list[Named]] = defaultdict(list)
    untold: list[Named] = []
    for entity in group:
        if entity.type in UNTOLD_TYPES:
            untold.append(entity)
        else:
            by_kind[_kind(entity)].append(entity)
    if len(by_kind) <= 1:
        yield [*untold, *_all(by_kind)]
        return
    yield from by_kind.values()
    if untold:
        yield untold


def _kind(entity: Named) -> str:
    is_proper = entity.type in PROPER_TYPES
    has_several_words = " " in _plain(entity.name)
    return "common" if has_several_words and not is_proper else entity.type


def _all(by_kind: Mapping[str, Sequence[Named]]) -> Iterator[Named]:
    for entities in by_kind.values():
        yield from entities


def _rank(name: str, key: str) -> tuple[bool, bool, int, int, str]:
    """Return the order of names in a group: without an article, in the singular, with capitals but
    not of capitals, short.
    """
    is_all_capitals = name.isupper() and not is_abbreviation(name)
    capitals = 0 if name != name.lower() and not is_all_capitals else 1 + is_all_capitals
    return (_without_article(name) != name, _plain(name) != key, capitals, len(name), name)
