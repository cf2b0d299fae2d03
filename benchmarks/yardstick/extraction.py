"""Entities and relations of a passage by rules: capitalised names and topics, joined where they
share a sentence.
"""

import itertools
import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from hashlib import blake2b

from benchmarks.yardstick.text import WORD, clip, is_topic, names, sentences, topics

CHARACTERS_PER_ENTITY = 110
"""About what a small chat model finds: 20 names in 600 tokens of encyclopaedic text."""
RELATIONS_PER_ENTITY = 1.2
FEWEST_ENTITIES = 6
HELD_BACK = 8
"""One entity in so many is left out of the first answer, for the second round to find."""

_TYPES = tuple(
    (label, re.compile(pattern))
    for label, pattern in (
        (
            "Organization",
            r"\b(University|College|School|Company|Corporation|Church|Abbey|Club|Party|Army|Records|Band|Studios?"
            r"|Institute|League|Museum|Society)\b",
        ),
        (
            "Location",
            r"\b(City|County|River|Island|Lake|Mount|Street|Province|District|Kingdom|Republic|Palace|Castle|England"
            r"|France|India|America|States|London|York)\b",
        ),
        ("Event", r"\b(War|Battle|Festival|Championship|Cup|Award|Awards|Games|Christmas)\b"),
        ("Content", r"\b(Film|Album|Song|Novel|Book|Story|Symphony|Magazine)\b"),
        (
            "Person",
            r"^(\S+ (?:\S+ ){0,2}\S+|.*\b(King|Queen|Duke|Count|Bishop|Prince|Princess|Sir|Lady)\b.*)$",
        ),
    )
)


@dataclass(frozen=True)
class Entity:
    """A name with its type and what the passage says of it."""

    name: str
    type: str
    description: str


@dataclass(frozen=True)
class Relation:
    """Two names that share a sentence."""

    source: str
    target: str
    keywords: str
    description: str


@dataclass(frozen=True)
class Extraction:
    """What a passage holds."""

    entities: list[Entity] = field(default_factory=list[Entity])
    relations: list[Relation] = field(default_factory=list[Relation])


def extract(text: str) -> Extraction:
    """Everything in the passage, up to a number of entities that its length sets."""
    parts = sentences(text)
    seen, by_sentence = _mentions(text, parts)
    kept = _most_mentioned(seen, max(FEWEST_ENTITIES, len(text) // CHARACTERS_PER_ENTITY))
    entities = [
        Entity(
            name, _type(name), clip(f"{name}: " + " ".join(parts[i] for i in seen[name][:2]), 320)
        )
        for name in seen
        if name in kept
    ]
    together = [[name for name in result if name in kept] for result in by_sentence]
    relations = _relations(parts, together)
    return Extraction(entities, relations[: int(len(entities) * RELATIONS_PER_ENTITY)])


def rounds(text: str) -> tuple[Extraction, Extraction]:
    """What the first answer gives, and what the second round adds."""
    every = extract(text)
    late: set[str] = set()
    if len(every.entities) > 4:
        late = {
            each.name
            for each in every.entities
            if stable_hash(each.name, len(text)) % HELD_BACK == 0
        }
    first = Extraction(
        [each for each in every.entities if each.name not in late],
        [each for each in every.relations if each.source not in late and each.target not in late],
    )
    second = Extraction(
        [each for each in every.entities if each.name in late],
        [each for each in every.relations if each.source in late or each.target in late],
    )
    return first, second


def limited(
    result: Extraction, rows: int, entities: int, known: Collection[str] = ()
) -> Extraction:
    """The best connected entities, and relations between them and `known`, within so many rows."""
    degree: dict[str, int] = {}
    for each in result.relations:
        for name in (each.source, each.target):
            degree[name] = degree.get(name, 0) + 1
    best = sorted(
        range(len(result.entities)), key=lambda i: (-degree.get(result.entities[i].name, 0), i)
    )[:entities]
    kept = [result.entities[i] for i in sorted(best)]
    allowed = {each.name for each in kept} | set(known)
    relations = [
        each for each in result.relations if each.source in allowed and each.target in allowed
    ]
    return Extraction(kept, relations[: max(0, rows - len(kept))])


def stable_hash(*parts: object) -> int:
    """64 bits that do not change between processes."""
    digest = blake2b(digest_size=8)
    for part in parts:
        digest.update(str(part).encode("utf-8", "surrogatepass") + b"\x1f")
    return int.from_bytes(digest.digest(), "big")


def _mentions(text: str, parts: Sequence[str]) -> tuple[dict[str, list[int]], list[list[str]]]:
    """The sentences that name each thing, and the things that each sentence names."""
    titles = {word: word.capitalize() for word in topics(text)}
    seen: dict[str, list[int]] = {}
    by_sentence: list[list[str]] = []
    for index, sentence in enumerate(parts):
        result, words = names(sentence), set(WORD.findall(sentence))
        result += [title for word, title in titles.items() if word in words and title not in result]
        for name in result:
            seen.setdefault(name, []).append(index)
        by_sentence.append(result)
    if (
        not seen
    ):  # nothing is capitalised: the longest words, so that the pipeline has something to do
        longest = sorted(
            {word for word in WORD.findall(text) if len(word) > 3},
            key=lambda word: (-len(word), word),
        )
        seen = {word.capitalize(): [0] for word in longest[:3]}
    return seen, by_sentence


def _most_mentioned(seen: dict[str, list[int]], limit: int) -> set[str]:
    """The names that are seen often, then the longer ones, then the early ones."""
    order = list(seen)
    rank = sorted(range(len(order)), key=lambda i: (-len(seen[order[i]]), -order[i].count(" "), i))
    return {order[i] for i in rank[:limit]}


def _relations(parts: Sequence[str], together: Sequence[Sequence[str]]) -> list[Relation]:
    relations: dict[tuple[str, str], Relation] = {}
    for sentence, result in zip(parts, together, strict=True):
        if len(result) < 2:
            continue
        inside = {word for name in result for word in name.lower().split()}
        words = dict.fromkeys(WORD.findall(sentence.lower()))
        about = (
            ", ".join([word for word in words if is_topic(word) and word not in inside][:2])
            or "association"
        )
        pairs = [*itertools.pairwise(result), *((result[0], name) for name in result[2:4])]
        for source, target in pairs:
            key = (min(source, target), max(source, target))
            if source != target and key not in relations:
                relations[key] = Relation(source, target, about, clip(sentence, 240))
    return list(relations.values())


def _type(name: str) -> str:
    return next((label for label, pattern in _TYPES if pattern.search(name)), "Concept")
