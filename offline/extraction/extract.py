"""Extracts without a language model: names become entities, names that share a sentence become
relations.

It does not understand the text: descriptions are sentences of the passage itself, preferably one
that defines the entity. The result is a function of the text and the headings alone.
"""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise

from contracts.ids import pair
from contracts.spelling import one_spelling
from contracts.values import ExtractedEntity, ExtractedRelation
from offline.extraction.ships import has_noun, has_prefix
from offline.extraction.subjects import referred
from offline.extraction.ties import ABBREVIATION, ALIAS, TOGETHER, defines, tie
from offline.extraction.types import guess
from offline.language.names import Name, names_in
from offline.language.sentences import Sentence, sentences
from offline.language.terms import is_telling, words

MODEL = "offline-heuristics-v2"
PROMPT_VERSION = "offline-6"

MOST_ENTITIES = 40
MOST_RELATIONS = 60
PAIRS_PER_SENTENCE = 4
LONGEST_DESCRIPTION = 400
"""Characters of a description; a longer one is cut."""

_DEFINED = 3.0
_MOST_KEYWORDS = 6
_MARKUP = re.compile(
    r"^(?:#{1,6}|[-*+•>]|\d{1,3}[.)])\s+|\*\*|``?|\||(?<=[\s(])\*(?=\S)|(?<=\S)\*(?=[\s).,;:]|$)"
)
_LINK = re.compile(r"!?\[([^\[\]]{0,200})\](?:\([^()\s]{0,500}\)|\[[^\[\]]{0,100}\])")
_ROLE = re.compile(r":[a-z]{2,12}(?::[a-z]{2,12})?:(?=`)")
_BLANKS = re.compile(r"\s+")


@dataclass(frozen=True)
class PassageGraph:
    """The entities and relations of a passage."""

    entities: tuple[ExtractedEntity, ...]
    relations: tuple[ExtractedRelation, ...]


@dataclass
class _Entity:
    """A name, and every place in the text that mentions it."""

    name: str
    places: list[Name] = field(default_factory=list[Name])


def extract(text: str, headings: Sequence[str] = ()) -> PassageGraph:
    """Return at most 40 entities and 60 relations of a passage, in order of first mention.

    `headings` are evidence that a word is a name; nothing is extracted from them. Never raises, and
    an empty or blank text gives an empty graph.
    """
    text = one_spelling(text)
    headings = [one_spelling(heading) for heading in headings]
    all_sentences = sentences(text)
    heading_names = {
        word.text for heading in headings for word in words(heading) if word.shape == "proper"
    }
    occurrences = _significant_names(names_in(text, all_sentences, heading_names), all_sentences)
    entities = _most_mentioned(_entities(occurrences))
    antecedents = {
        number: replace(name, text=_resolve_name(name.text, entities))
        for number, name in referred(text, all_sentences, occurrences, headings).items()
    }
    rows = [_extracted_entity(text, entity, all_sentences) for entity in entities.values()]
    rows = [*rows, *_from_headings(text, antecedents, entities, all_sentences)][:MOST_ENTITIES]
    names = {place.start: entity.name for entity in entities.values() for place in entity.places}
    names |= {
        name.start: name.text
        for name in antecedents.values()
        if name.text in {entity.name for entity in rows}
    }
    return PassageGraph(
        tuple(rows), tuple(_relations(text, all_sentences, occurrences, names, antecedents))
    )


def _resolve_name(name: str, entities: Mapping[str, _Entity]) -> str:
    """Return the name of the only entity mentioned by this name, or that contains it; else the name
    itself.
    """
    candidates = [
        entity.name
        for entity in entities.values()
        if any(place.text == name for place in entity.places)
    ]
    candidates = candidates or [key for key in entities if f" {name} " in f" {key} "]
    return candidates[0] if len(candidates) == 1 else name


def _significant_names(occurrences: Sequence[Name], sentences: Sequence[Sentence]) -> list[Name]:
    """Return the names outside of code; identifiers only if they name a type or setting, or occur
    twice.
    """
    prose = [name for name in occurrences if not sentences[name.sentence].code]
    counts = Counter(name.text for name in prose)
    return [
        name
        for name in prose
        if name.kind != "code" or is_telling(name.text) or counts[name.text] > 1
    ]


def _from_headings(
    text: str,
    antecedents: Mapping[int, Name],
    entities: Mapping[str, _Entity],
    sentences: Sequence[Sentence],
) -> Iterator[ExtractedEntity]:
    """Yield the subject that only a heading names, if any, described by the first sentence with a
    pronoun for it.
    """
    for number, name in sorted(antecedents.items()):
        if name.text not in entities:
            description = bounded(plain(sentences[number].text), LONGEST_DESCRIPTION)
            is_grounded = name.text in text
            yield ExtractedEntity(
                name=name.text, type=guess(name), description=description, grounded=is_grounded
            )
            return


def _entities(occurrences: Sequence[Name]) -> dict[str, _Entity]:
    """Return the entities by name; a last name alone counts for the only full name that ends with
    it.
    """
    entities: dict[str, _Entity] = {}
    full_names = _full_names(occurrences)
    for name in occurrences:
        key = full_names.get(name.text, name.text)
        entities.setdefault(key, _Entity(key)).places.append(name)
    return entities


def _full_names(occurrences: Sequence[Name]) -> dict[str, str]:
    """Return full names by last name (`Curie`: `Marie Curie`), if the only such name occurs before
    the short one.
    """
    starts_by_last_name: dict[str, dict[str, int]] = {}
    for name in occurrences:
        last_name = name.text.split(" ")[-1]
        if (
            name.kind == "name"
            and last_name != name.text
            and " of " not in name.text
            and last_name.isalpha()
        ):
            starts_by_last_name.setdefault(last_name, {}).setdefault(name.text, name.start)
    first = {name.text: name.start for name in reversed(occurrences)}
    return {
        last_name: full_name
        for last_name, candidates in starts_by_last_name.items()
        if len(candidates) == 1
        for full_name, start in candidates.items()
        if start < first.get(last_name, -1)
    }


def _most_mentioned(entities: Mapping[str, _Entity]) -> dict[str, _Entity]:
    """Return the entities mentioned most, in order of first mention; of equals the earlier ones."""
    ranking = sorted(
        entities.values(), key=lambda entity: (-len(entity.places), entity.places[0].start)
    )
    names = {entity.name for entity in ranking[:MOST_ENTITIES]}
    return {name: entity for name, entity in entities.items() if name in names}


def _extracted_entity(text: str, entity: _Entity, sentences: Sequence[Sentence]) -> ExtractedEntity:
    mention = max(entity.places, key=lambda place: (guess(place) != "other", -place.start))
    kind = guess(mention)
    if has_prefix(text, entity.places) or (kind == "other" and has_noun(text, entity.places)):
        kind = "ship"
    description = _description(text, entity, sentences)
    return ExtractedEntity(name=entity.name, type=kind, description=description)


def _description(text: str, entity: _Entity, sentences: Sequence[Sentence]) -> str:
    """Return the sentence that scores best for the entity, with the second best if both fit."""
    scores: dict[int, float] = {}
    for place in entity.places:
        score = _score(text, place, sentences[place.sentence])
        scores[place.sentence] = max(score, scores.get(place.sentence, -9.0))
    ranking = sorted(scores, key=lambda number: (-scores[number], number))
    numbers = [ranking[0]]
    for number in ranking[1:2]:
        length = len(sentences[ranking[0]].text) + len(sentences[number].text) + 1
        if length <= LONGEST_DESCRIPTION and scores[number] >= 0:
            numbers.append(number)
    if scores[ranking[0]] < _DEFINED:
        numbers.sort()
    return (
        bounded(" ".join(plain(sentences[number].text) for number in numbers), LONGEST_DESCRIPTION)
        or entity.name
    )


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
    sentences: Sequence[Sentence],
    occurrences: Sequence[Name],
    names: Mapping[int, str],
    antecedents: Mapping[int, Name],
) -> Iterator[ExtractedRelation]:
    """Yield relations between names that share a sentence, also with the antecedent of a pronoun at
    its beginning.

    `names` are the names of entities by offset, `antecedents` the names that pronouns stand for by
    sentence.
    """
    relations: dict[tuple[str, str], _Relation] = {}
    for number, places in _by_sentence(occurrences):
        mentions = _distinct(
            [*([antecedents[number]] if number in antecedents else []), *places], names
        )
        subjects = mentions[:1]
        for earlier, later in list(pairwise(mentions))[:PAIRS_PER_SENTENCE]:
            tie_keywords = tie(text, earlier, later, sentences[number])
            key = pair(names[subjects[-1].start], names[later.start])
            # What follows an alias or abbreviation relates to the entity itself.
            subjects.append(subjects[-1] if tie_keywords[0] in (ALIAS, ABBREVIATION) else later)
            row = relations.setdefault(
                key, _Relation([], bounded(plain(sentences[number].text), LONGEST_DESCRIPTION))
            )
            row.keywords += [word for word in tie_keywords if word not in row.keywords]
    for (source, target), relation in list(relations.items())[:MOST_RELATIONS]:
        informative = [word for word in relation.keywords if word != TOGETHER] or [TOGETHER]
        yield ExtractedRelation(
            source=source,
            target=target,
            keywords=tuple(informative[:_MOST_KEYWORDS]),
            description=relation.description,
            grounded=source in text and target in text,
        )


def _by_sentence(occurrences: Sequence[Name]) -> Iterator[tuple[int, list[Name]]]:
    groups: dict[int, list[Name]] = {}
    for name in occurrences:
        groups.setdefault(name.sentence, []).append(name)
    yield from groups.items()


def _distinct(places: Iterable[Name], names: Mapping[int, str]) -> list[Name]:
    """Return the first place of each entity in `names` in one sentence."""
    first: dict[str, Name] = {}
    for place in places:
        if place.start in names:
            first.setdefault(names[place.start], place)
    return list(first.values())


def plain(text: str) -> str:
    """Return the text on one line, without the marks of Markdown and reStructuredText."""
    text = _ROLE.sub("", _LINK.sub(r"\1", text.strip()))
    return _BLANKS.sub(" ", _MARKUP.sub("", text)).strip()


def bounded(text: str, longest: int) -> str:
    """Return at most `longest` characters of the text, cut at a blank if possible, with an
    ellipsis.
    """
    if len(text) <= longest:
        return text
    cut = text[: longest - 1]
    blank = cut.rfind(" ", longest // 2)
    return (cut[:blank] if blank > 0 else cut).rstrip() + "…"
