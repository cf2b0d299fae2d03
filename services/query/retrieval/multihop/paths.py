"""The ways from a linked entity that say what a question asks, each step a sentence that ties two entities."""

import math
from collections import defaultdict
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from services.query.retrieval.multihop.query_terms import Asked
from services.query.retrieval.multihop.sentences import NAMED, Sentence
from services.query.retrieval.multihop.subgraph import Map
from services.query.retrieval.ranking import interleave

BACK, BESIDE = 4.0, 4.5
"""How much less likely a step is, as a logarithm, than one from what a sentence is about to what it names: the other
way round, and between two that it only names."""
SHARPNESS = 4.0
"""How much likelier a step is, as a logarithm, for each asked word that it says and the others from there do not."""
MISS = 1.5
"""What each asked word costs that no step says,"""
STEP = 1.0
"""and each step; in the same measure."""
SPAN = 3
"""Words before the link, and behind it, that a step may come to."""
LATE = 0.75
"""What is left of a word that is said by a later step than the one that came to it."""
HOPE = 0.6
"""How much of a word that was not come to is expected to be said."""
TELLS = 0.3
"""Words that a telling step says at least."""
AHEAD = 2.0
"""How much less likely than a path's own passages one is that is about an entity on it; a logarithm as well."""
OPEN = 0.5
"""How much of what may still be hoped for of a path counts against its being all that is asked."""
MEANT, NEAR, SAME = 0.9, 0.1, 0.7
"""How much a sentence says a word at most that it means by another, and the likeness, as a cosine, from which it does
so a little, and in full: by the square of what lies between."""
KEPT = 60
"""Paths that are followed further,"""
WIDTH = 24
"""ways on from each that are looked at,"""
DEPTH = 5
"""how often,"""
MOST_PATHS = 200
"""and ways from one link whose passages are listed."""
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
    """Logarithm of how likely its steps are among all, less what is not said."""
    promise: float = 0.0
    """The value, and what may be hoped for from the words that were not come to."""
    telling: bool = False
    """Whether the last step says something of the question."""
    before: int = 0
    behind: int = 0
    """Words on either side of the link that were come to."""


@dataclass(frozen=True)
class _Steps:
    """The steps from one entity, those to the same one together: how much each says of each word, what it costs, and
    where those to another one begin.
    """

    ways: Sequence[tuple[Sentence, str]]
    says: Array
    costs: Array
    begins: Array


@dataclass(frozen=True)
class _Goal:
    """What is asked of one link: the numbers of the words on either side, the nearest first."""

    before: Array
    behind: Array

    def __len__(self) -> int:
        return len(self.before) + len(self.behind)


def paths(known: Map, asked: Asked, starts: Sequence[str]) -> list[Path]:
    """Beam search for the ways that say most of what is asked, the best first.

    A question nests what it asks around the name: in "the founder of the firm that X worked for" the words next to X,
    on either side, are the first step. Each step comes to the next few words before and behind, and is measured by how
    much more of them it says than the other steps that could be taken there.
    """
    stems = sorted(asked.stems)
    if not stems:
        return []
    lookup = _Lookup(known, stems)
    found: list[Path] = []
    for start in starts:
        goal = _goal(known, asked, stems, start)
        beam = [Path((start,), (), np.zeros(len(stems)), -MISS * len(goal))]
        for _ in range(min(DEPTH, len(goal))):
            beam = _longer(beam, lookup, goal)
            found += beam
    return sorted(found, key=lambda path: -path.value)


def telling(found: Sequence[Path]) -> list[Path]:
    """Those whose last step says something of the question, each way once: there is one path for each manner to come
    to the question's words, of which the best counts.
    """
    ways: dict[tuple[object, ...], Path] = {}
    for path in found:
        if path.telling:
            ways.setdefault((path.names, path.chunks), path)
    return list(ways.values())


def bridge(ways: Sequence[Path], known: Map, groups: Sequence[Collection[str]]) -> list[str]:
    """The passages on these ways, and those that are about the entities on them, the likeliest to be needed first.

    A way is as likely as its value says, less so while words are left that it has not come to, and a passage as all the
    ways that it is on together: several that agree on their first steps outweigh a better one that goes elsewhere.
    `groups` are the names that each link of the question may mean: their passages are taken in turn, for a question
    that compares two things needs both.
    """
    lists: list[list[str]] = []
    for group in groups:
        scores: defaultdict[str, float] = defaultdict(float)
        for path in [path for path in ways if path.names[0] in group][:MOST_PATHS]:
            about = [chunk for name in path.names[1:] for chunk in known.defining(name)[:1]]
            likely = path.value - OPEN * (path.promise - path.value)
            for chunk in dict.fromkeys([*path.chunks, *about]):
                scores[chunk] += math.exp(likely - (0.0 if chunk in path.chunks else AHEAD))
        lists.append(sorted(scores, key=lambda chunk: -scores[chunk]))
    return interleave(*lists, key=lambda chunk: chunk)


def _goal(known: Map, asked: Asked, stems: Sequence[str], start: str) -> _Goal:
    linked = start if start in asked.beside else next((n for n in known.same([start]) if n in asked.beside), "")
    # Without a link there is no side: words are taken from the end, where English says what comes first.
    before, behind = asked.beside.get(linked, (tuple(asked.words)[::-1], ()))
    number = {stem: n for n, stem in enumerate(stems)}
    return _Goal(
        np.array([number[word] for word in before], np.int64), np.array([number[word] for word in behind], np.int64)
    )


@dataclass(frozen=True)
class _Options:
    """What may come next on a path, by step and by the words before and behind the link that it comes to."""

    path: Path
    steps: _Steps
    gains: Array
    values: Array
    promises: Array

    def best(self) -> Iterator[tuple[float, "_Options", int]]:
        """The most promising places."""
        flat: Array = self.promises.ravel()
        few: Array = np.argsort(-flat)[:WIDTH]
        return ((promise, self, place) for promise, place in zip(flat[few].tolist(), few.tolist(), strict=True))


def _longer(beam: Sequence[Path], lookup: "_Lookup", goal: _Goal) -> list[Path]:
    """The most promising paths that are one step longer."""
    every = [_options(path, steps, goal) for path in beam if (steps := lookup.of(path.names[-1])).ways]
    kept: dict[tuple[object, ...], Path] = {}
    for _, options, place in sorted((one for some in every for one in some.best()), key=lambda one: -one[0]):
        path = _extended(options, goal, place)
        if path is not None:
            kept.setdefault((path.names[-1], path.before, path.behind, *path.chunks), path)
        if len(kept) == KEPT:
            break
    return list(kept.values())


def _options(path: Path, steps: _Steps, goal: _Goal) -> _Options:
    more = np.maximum(0.0, steps.says - path.said)
    before, behind = goal.before[path.before :], goal.behind[path.behind :]
    late = more[:, goal.before[: path.before]].sum(axis=1) + more[:, goal.behind[: path.behind]].sum(axis=1)
    sides = _sums(more[:, before[:SPAN]]), _sums(more[:, behind[:SPAN]])
    gains = LATE * late[:, None, None] + sides[0][:, :, None] + sides[1][:, None, :]
    odds = SHARPNESS * gains - steps.costs[:, None, None]
    rivals: Array = np.exp(np.maximum.reduceat(odds, steps.begins)).sum(axis=0)
    values = path.value + odds - np.log(rivals) + MISS * gains - STEP
    come: Array = np.add.outer(range(gains.shape[1]), range(gains.shape[2]))
    return _Options(path, steps, gains, values, values + HOPE * MISS * (len(before) + len(behind) - come))


def _extended(options: _Options, goal: _Goal, place: int) -> Path | None:
    """The path with that step, unless it was at its end before."""
    number, before, behind = map(int, np.unravel_index(place, options.values.shape))
    path, (sentence, name) = options.path, options.steps.ways[number]
    if name in path.names:
        return None
    before, behind = path.before + before, path.behind + behind
    come = [*goal.before[:before], *goal.behind[:behind]]
    said = path.said.copy()
    said[come] = np.maximum(said[come], options.steps.says[number][come])
    return Path(
        (*path.names, name),
        path.chunks if path.chunks[-1:] == (sentence.chunk,) else (*path.chunks, sentence.chunk),
        said,
        value=float(options.values.flat[place]),
        promise=float(options.promises.flat[place]),
        telling=bool(options.gains.flat[place] > TELLS),
        before=before,
        behind=behind,
    )


def _sums(rows: Array) -> Array:
    """Of the first none, one, two ... columns."""
    return np.concatenate([np.zeros((len(rows), 1)), np.cumsum(rows, axis=1)], axis=1)


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
        ways.sort(key=lambda way: way[1])
        begins = [n for n, (_, other) in enumerate(ways) if not n or other != ways[n - 1][1]]
        says = np.zeros((len(ways), len(self._stems)))
        for number, (sentence, other) in enumerate(ways):
            heard = sentence.heard | self._kinds.get(other, frozenset())
            says[number] = [float(word in heard) for word in self._stems]
            rows = [self._meant[word] for word in sentence.words if word in self._meant]
            says[number] = np.max([says[number], *rows], axis=0)
        costs = np.array([_cost(sentence, name, other) for sentence, other in ways])
        return _Steps(ways, says, costs, np.array(begins, np.int64))


def _cost(sentence: Sentence, here: str, there: str) -> float:
    if sentence.about[here] > NAMED:
        return 0.0
    return BACK if sentence.about[there] > NAMED else BESIDE


def _meant(known: Map, stems: Sequence[str]) -> dict[str, Array]:
    """How much each word of sentences means each asked word."""
    if not known.like:
        return {}
    likeness = np.array(list(known.like.values())) @ np.array([known.said[word] for word in stems]).T
    return dict(zip(known.like, np.clip((likeness - NEAR) / (SAME - NEAR), 0.0, 1.0) ** 2 * MEANT, strict=True))
