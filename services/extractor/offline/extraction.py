"""What a passage says, without a language model: names as entities, names that share a sentence as relations.

It finds who and what stands together, not what is meant: descriptions are sentences of the passage itself, one that
defines before one that mentions. The result is a function of the text and the headings alone.
"""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise

from contracts.ids import pair
from contracts.values import ExtractedEntity, ExtractedRelation
from runtime.text.names import Name, names_in
from runtime.text.sentences import Sentence, sentences
from runtime.text.terms import is_telling, words
from services.extractor.domain.extraction import Extraction
from services.extractor.offline.subjects import referred
from services.extractor.offline.ties import ABBREVIATION, ALIAS, TOGETHER, defines, tie
from services.extractor.offline.types import guess

MODEL = "offline-heuristics-v2"
PROMPT_VERSION = "offline-2"

MOST_ENTITIES = 40
MOST_RELATIONS = 60
PAIRS_PER_SENTENCE = 4
LONGEST_DESCRIPTION = 400
"""Characters."""

_DEFINED = 3.0
_MOST_KEYWORDS = 6
_MARKUP = re.compile(r"^(?:#{1,6}|[-*+•>]|\d{1,3}[.)])\s+|\*\*|``?|\||(?<=[\s(])\*(?=\S)|(?<=\S)\*(?=[\s).,;:]|$)")
_LINK = re.compile(r"!?\[([^\[\]]{0,200})\](?:\([^()\s]{0,500}\)|\[[^\[\]]{0,100}\])")
_ROLE = re.compile(r":[a-z]{2,12}(?::[a-z]{2,12})?:(?=`)")
_BLANKS = re.compile(r"\s+")


@dataclass
class _Entity:
    """A name with its places: which sentences mention it, and where there."""

    name: str
    places: list[Name] = field(default_factory=list[Name])


def extract(text: str, headings: Sequence[str] = ()) -> Extraction:
    """At most 40 entities and 60 relations of a passage, in order of first mention.

    `headings` are evidence that a word is a name; nothing is extracted from them. Never raises, and an empty or blank
    text gives an empty extraction.
    """
    found = sentences(text)
    known = {word.text for heading in headings for word in words(heading) if word.shape == "proper"}
    occurrences = _worth_keeping(names_in(text, found, known), found)
    entities = _chosen(_entities(occurrences))
    meant = {
        number: replace(name, text=_resolved(name.text, entities))
        for number, name in referred(text, found, occurrences, headings).items()
    }
    described = [_described(text, entity, found) for entity in entities.values()]
    described = [*described, *_from_headings(text, meant, entities, found)][:MOST_ENTITIES]
    names = {place.start: entity.name for entity in entities.values() for place in entity.places}
    names |= {name.start: name.text for name in meant.values() if name.text in {entity.name for entity in described}}
    return Extraction(tuple(described), tuple(_relations(text, found, occurrences, names, meant)))


def _resolved(name: str, entities: Mapping[str, _Entity]) -> str:
    """The entity that is called so: the one whose places are, or the only one whose name holds this one."""
    called = [entity.name for entity in entities.values() if any(place.text == name for place in entity.places)]
    called = called or [key for key in entities if f" {name} " in f" {key} "]
    return called[0] if len(called) == 1 else name


def _worth_keeping(occurrences: Sequence[Name], found: Sequence[Sentence]) -> list[Name]:
    """Names outside of code; identifiers of code only when the prose is about them: named there twice, or a type's."""
    prose = [name for name in occurrences if not found[name.sentence].code]
    counts = Counter(name.text for name in prose)
    return [name for name in prose if name.kind != "code" or is_telling(name.text) or counts[name.text] > 1]


def _from_headings(
    text: str, meant: Mapping[int, Name], entities: Mapping[str, _Entity], found: Sequence[Sentence]
) -> Iterator[ExtractedEntity]:
    """The subject that only a heading names, described by the first sentence that speaks of it."""
    for number, name in sorted(meant.items()):
        if name.text not in entities:
            description = bounded(plain(found[number].text), LONGEST_DESCRIPTION)
            grounded = name.text in text
            yield ExtractedEntity(name=name.text, type=guess(name), description=description, grounded=grounded)
            return


def _entities(occurrences: Sequence[Name]) -> dict[str, _Entity]:
    """Occurrences by name; a lone last word stands for the one longer name that ends with it."""
    entities: dict[str, _Entity] = {}
    full = _full_names(occurrences)
    for name in occurrences:
        key = full.get(name.text, name.text)
        entities.setdefault(key, _Entity(key)).places.append(name)
    return entities


def _full_names(occurrences: Sequence[Name]) -> dict[str, str]:
    """`Curie` → `Marie Curie`, where the text has exactly one such name and it begins before the short one."""
    longer: dict[str, dict[str, int]] = {}
    for name in occurrences:
        last = name.text.split(" ")[-1]
        if name.kind == "name" and last != name.text and " of " not in name.text and last.isalpha():
            longer.setdefault(last, {}).setdefault(name.text, name.start)
    first = {name.text: name.start for name in reversed(occurrences)}
    return {
        last: full
        for last, candidates in longer.items()
        if len(candidates) == 1
        for full, start in candidates.items()
        if start < first.get(last, -1)
    }


def _chosen(entities: Mapping[str, _Entity]) -> dict[str, _Entity]:
    """The entities mentioned most, earlier ones first among equals, in order of first mention."""
    ranked = sorted(entities.values(), key=lambda entity: (-len(entity.places), entity.places[0].start))
    kept = {entity.name for entity in ranked[:MOST_ENTITIES]}
    return {name: entity for name, entity in entities.items() if name in kept}


def _described(text: str, entity: _Entity, found: Sequence[Sentence]) -> ExtractedEntity:
    best = max(entity.places, key=lambda place: (guess(place) != "other", -place.start))
    return ExtractedEntity(name=entity.name, type=guess(best), description=_description(text, entity, found))


def _description(text: str, entity: _Entity, found: Sequence[Sentence]) -> str:
    """The sentence that says most of the entity, with a second one where both fit."""
    scores: dict[int, float] = {}
    for place in entity.places:
        score = _score(text, place, found[place.sentence])
        scores[place.sentence] = max(score, scores.get(place.sentence, -9.0))
    ranked = sorted(scores, key=lambda number: (-scores[number], number))
    chosen = [ranked[0]]
    for number in ranked[1:2]:
        both = len(found[ranked[0]].text) + len(found[number].text) + 1
        if both <= LONGEST_DESCRIPTION and scores[number] >= 0:
            chosen.append(number)
    if scores[ranked[0]] < _DEFINED:
        chosen.sort()
    return bounded(" ".join(plain(found[number].text) for number in chosen), LONGEST_DESCRIPTION) or entity.name


def _score(text: str, place: Name, sentence: Sentence) -> float:
    score = 1.0 - min(1.0, (place.start - sentence.start) / 200)
    if defines(text, place, sentence):
        score += _DEFINED
    if sentence.heading or sentence.code or len(sentence.text) < len(place.text) + 12:
        score -= 2
    if len(sentence.text) > LONGEST_DESCRIPTION:
        score -= 1
    return score


@dataclass
class _Relation:
    keywords: list[str]
    description: str


def _relations(
    text: str,
    found: Sequence[Sentence],
    occurrences: Sequence[Name],
    names: Mapping[int, str],
    meant: Mapping[int, Name],
) -> Iterator[ExtractedRelation]:
    """Ties of names that share a sentence; what its first word, a pronoun, means is one of them. `names` by place."""
    relations: dict[tuple[str, str], _Relation] = {}
    for number, places in _by_sentence(occurrences):
        named = _distinct([*([meant[number]] if number in meant else []), *places], names)
        tied = named[:1]
        for left, right in list(pairwise(named))[:PAIRS_PER_SENTENCE]:
            said = tie(text, left, right, found[number])
            key = pair(names[tied[-1].start], names[right.start])
            # What follows another name of a thing is said of the thing.
            tied.append(tied[-1] if said[0] in (ALIAS, ABBREVIATION) else right)
            known = relations.setdefault(key, _Relation([], bounded(plain(found[number].text), LONGEST_DESCRIPTION)))
            known.keywords += [word for word in said if word not in known.keywords]
    for (source, target), relation in list(relations.items())[:MOST_RELATIONS]:
        telling = [word for word in relation.keywords if word != TOGETHER] or [TOGETHER]
        yield ExtractedRelation(
            source=source,
            target=target,
            keywords=tuple(telling[:_MOST_KEYWORDS]),
            description=relation.description,
            grounded=source in text and target in text,
        )


def _by_sentence(occurrences: Sequence[Name]) -> Iterator[tuple[int, list[Name]]]:
    groups: dict[int, list[Name]] = {}
    for name in occurrences:
        groups.setdefault(name.sentence, []).append(name)
    yield from groups.items()


def _distinct(places: Iterable[Name], names: Mapping[int, str]) -> list[Name]:
    """The first place of each chosen entity in one sentence."""
    first: dict[str, Name] = {}
    for place in places:
        if place.start in names:
            first.setdefault(names[place.start], place)
    return list(first.values())


def plain(text: str) -> str:
    """The text on one line, without the marks of Markdown and reStructuredText."""
    text = _ROLE.sub("", _LINK.sub(r"\1", text.strip()))
    return _BLANKS.sub(" ", _MARKUP.sub("", text)).strip()


def bounded(text: str, longest: int) -> str:
    """At most `longest` characters, cut at a blank where there is one, with an ellipsis."""
    if len(text) <= longest:
        return text
    cut = text[: longest - 1]
    blank = cut.rfind(" ", longest // 2)
    return (cut[:blank] if blank > 0 else cut).rstrip() + "…"
