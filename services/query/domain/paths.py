"""The ways from a linked entity that say what a question asks, each step a sentence that ties two entities."""

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from services.query.domain.map import Map
from services.query.domain.reading import NAMED, Asked, Sentence
from services.query.domain.retrieval import interleave

STEP, BACK, BESIDE = 0.03, 0.3, 0.35
"""What a step costs, where all asked words together are worth 1: from what a sentence is about to what it names, the
other way round, and between two that it only names."""
SILENT = 0.7
"""How much of one phrase a step must say in addition to its cost; what it says less it loses."""
AHEAD = 0.02
"""How much less than the passages of a path those count that are about an entity on it."""
OUT_OF_TURN = 0.5
"""What is left of a word's worth for each word that stands between it and the link and was not said before."""
MEANT, NEAR, SAME = 0.8, 0.35, 0.7
"""How much a sentence says a word at most that it means by another, and the likeness, as a cosine, from which it does
so a little, and in full."""
HALF_SAYS = 1.5
"""How much of a phrase of several words is said, for each share of them: two thirds say it all."""
RIVALRY = 0.05
"""How much a step loses to the other steps from the same entity that say as much."""
SHARPNESS = 10.0
KEPT = 60
"""Paths that are followed further,"""
WIDTH = 12
"""steps of each,"""
DEPTH = 5
"""how often,"""
MOST_PATHS = 200
"""and paths from one link whose passages are listed."""
MOST_STEPS = 400
"""Steps from one entity that are looked at."""

Array = Any


@dataclass(frozen=True)
class Path:
    """A way from a linked entity: the entities, the passages between them, how much of each asked word they say."""

    names: tuple[str, ...]
    chunks: tuple[str, ...]
    said: Array
    value: float
    telling: bool = False
    """Whether the last step says something of the question."""


@dataclass(frozen=True)
class _Steps:
    """The steps from one entity: how much each says of each word, and what it costs."""

    ways: Sequence[tuple[Sentence, str]]
    says: Array
    costs: Array


def paths(known: Map, asked: Asked, starts: Sequence[str]) -> list[Path]:
    """Beam search for the ways that say most of what is asked, in its order, in the fewest steps; the best first."""
    stems = sorted(asked.stems)
    if not stems:
        return []
    lookup = _Lookup(known, stems)
    found: list[Path] = []
    for start in starts:
        goal = _goal(known, asked, stems, start)
        beam = [Path((start,), (), np.zeros(len(stems)), 0.0)]
        # Each hop is asked for: there are no more of them than phrases.
        for _ in range(min(DEPTH, len(asked.nearer.get(start, asked.phrases)))):
            longer = [new for path in beam for new in _further(path, lookup.of(path.names[-1]), goal)]
            best: dict[tuple[str, ...], Path] = {}
            for path in sorted(longer, key=lambda path: -path.value):
                best.setdefault((path.names[-1], *path.chunks), path)
            beam = list(best.values())[:KEPT]
            found += beam
    return sorted(found, key=lambda path: -path.value)


def bridge(found: Sequence[Path], known: Map, groups: Sequence[Collection[str]]) -> list[str]:
    """The passages on the best paths, and those that are about the entities on them, the best first.

    `groups` are the names that each link of the question may mean: their passages are taken in turn, for a question
    that compares two things needs both.
    """
    lists: list[list[str]] = []
    for group in groups:
        scores: dict[str, float] = {}
        for path in [path for path in found if path.telling and path.names[0] in group][:MOST_PATHS]:
            for chunk in path.chunks:
                scores[chunk] = max(scores.get(chunk, -9.0), path.value)
            for name in path.names[1:]:
                for chunk in known.defining(name)[:1]:
                    scores[chunk] = max(scores.get(chunk, -9.0), path.value - AHEAD)
        lists.append(sorted(scores, key=lambda chunk: -scores[chunk]))
    return interleave(*lists, key=lambda chunk: chunk)


@dataclass(frozen=True)
class _Goal:
    """What is asked, by phrases."""

    parts: Array
    """A row per phrase: the share of each word in it."""
    worth: Array
    """Of each phrase; together 1."""
    nearer: Array
    """A row per phrase, with 1 for the phrases that stand between it and the link."""

    def said(self, words: Array) -> Array:
        """How much of each phrase is said when so much of each word is: half of its words are more than half of it."""
        return np.minimum(words @ self.parts.T, 1.0)


def _goal(known: Map, asked: Asked, stems: Sequence[str], start: str) -> _Goal:
    weights, between = known.weights(asked), asked.nearer.get(start, {})
    parts = np.array([[weights[word] * (word in phrase) for word in stems] for phrase in asked.phrases])
    worth = parts.max(axis=1)
    count = len(asked.phrases)
    nearer = np.array([[float(m in between.get(n, ())) for m in range(count)] for n in range(count)])
    several = np.array([[1.0 if len(set(phrase)) == 1 else HALF_SAYS] for phrase in asked.phrases])
    return _Goal(several * parts / parts.sum(axis=1, keepdims=True), worth / worth.sum(), nearer)


def _further(path: Path, steps: _Steps, goal: _Goal) -> Iterator[Path]:
    if not steps.ways:
        return
    words = np.maximum(path.said, steps.says)
    before, said = goal.said(path.said), goal.said(words)
    turn = OUT_OF_TURN ** ((1.0 - said) @ goal.nearer.T)
    gains = ((said - before) * turn * goal.worth).sum(axis=1)
    worth = gains - steps.costs - np.maximum(0.0, SILENT / len(goal.worth) - gains)
    rivals = np.exp(SHARPNESS * (worth - worth.max()))
    values = path.value + worth + RIVALRY * np.log(rivals / rivals.sum())
    for number in map(int, np.argsort(-values)[:WIDTH]):
        sentence, name = steps.ways[number]
        if name not in path.names:
            chunks = path.chunks if path.chunks[-1:] == (sentence.chunk,) else (*path.chunks, sentence.chunk)
            telling = bool(gains[number] > steps.costs[number])
            yield Path((*path.names, name), chunks, words[number], float(values[number]), telling)


class _Lookup:
    """The steps from each entity, made when they are asked for."""

    def __init__(self, known: Map, stems: Sequence[str]) -> None:
        self._stems = stems
        self._kinds = known.kinds()
        self._meant = _meant(known, stems)
        self._known = known
        self._made: dict[str, _Steps] = {}

    def of(self, name: str) -> _Steps:
        """Those from this entity."""
        if name not in self._made:
            self._made[name] = self._make(name)
        return self._made[name]

    def _make(self, name: str) -> _Steps:
        ways = [(s, other) for s in self._known.naming(name) for other in s.about if other != name][:MOST_STEPS]
        says = np.zeros((len(ways), len(self._stems)))
        for number, (sentence, other) in enumerate(ways):
            heard = sentence.heard | self._kinds.get(other, frozenset())
            says[number] = [float(word in heard) for word in self._stems]
            rows = [self._meant[word] for word in sentence.words if word in self._meant]
            says[number] = np.max([says[number], *rows], axis=0)
        return _Steps(ways, says, np.array([_cost(sentence, name, other) for sentence, other in ways]))


def _cost(sentence: Sentence, here: str, there: str) -> float:
    if sentence.about[here] > NAMED:
        return STEP
    return BACK if sentence.about[there] > NAMED else BESIDE


def _meant(known: Map, stems: Sequence[str]) -> dict[str, Array]:
    """How much each word of sentences means each asked word."""
    if not known.like:
        return {}
    likeness = np.array(list(known.like.values())) @ np.array([known.said[word] for word in stems]).T
    return dict(zip(known.like, np.clip((likeness - NEAR) / (SAME - NEAR), 0.0, 1.0) * MEANT, strict=True))
