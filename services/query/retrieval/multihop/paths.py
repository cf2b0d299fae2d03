"""Beam search for paths that start at a linked entity and cover the terms of the question.

A step leads from one entity to another through a sentence that is about both. Scores are logarithms of probabilities:
a step's share among all steps that could be taken from its entity, less the cost of terms that remain uncovered.
"""

import math
from collections import defaultdict
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from operator import itemgetter
from typing import Any

import numpy as np

from services.query.retrieval.multihop.sentences import MENTIONED
from services.query.retrieval.multihop.subgraph import Subgraph
from services.query.retrieval.ranking import interleave

REVERSED_COST, SIDEWAYS_COST = 4.0, 4.5
"""Logarithms. The cost of a step from an entity that a sentence mentions to the one it is about, and of a step between
two that it only mentions; a step from the entity a sentence is about to one it mentions costs nothing."""
TERM_LOG_ODDS = 4.0
"""Logarithm of the odds that a step gains for each term that it newly covers."""
MISSING_TERM_COST = 1.5
"""Logarithm. The cost of each term that no step covers."""
STEP_COST = 1.0
"""Logarithm. The cost of each step."""
MAX_TERMS_PER_STEP = 3
"""Terms before the link, and as many after it, that one step may take up."""
LATE_TERM_FACTOR = 0.75
"""The gain of a term that is covered by a later step than the one that took it up; 1 would be the full gain."""
EXPECTED_COVERAGE = 0.6
"""The gain that the optimistic score expects of each term that is not yet taken up."""
MIN_GAIN = 0.3
"""Terms that the last step of an informative path covers at least."""
ENTITY_CHUNK_COST = 2.0
"""Logarithm. The cost of a chunk that only defines an entity on a path, against a chunk of the path's own steps."""
OPEN_TERM_FACTOR = 0.5
"""The part of the difference between optimistic score and score that counts against a path when chunks are ranked."""
BEAM_WIDTH = 60
"""Paths that are kept after each step."""
MAX_CONTINUATIONS = 24
"""Continuations of each path that are considered."""
MAX_DEPTH = 5
"""Steps of a path at most."""
MAX_PATHS = 200
"""Paths from one link that contribute to the ranking of chunks."""
MAX_STEPS = 400
"""Steps from one entity that are considered."""

Array = Any


@dataclass(frozen=True)
class Path:
    """A path from a linked entity."""

    entities: tuple[str, ...]
    """The linked entity first."""
    chunk_ids: tuple[str, ...]
    """Of the sentences of its steps, without repetition of neighbours."""
    coverage: Array
    """For each stem of the question, in alphabetical order, how much of it the path covers: 0 to 1."""
    score: float
    """Logarithm of the probability of its steps, less the cost of uncovered terms."""
    optimistic_score: float = 0.0
    """The score if the terms that are not yet taken up were covered as expected."""
    informative: bool = False
    """Whether the last step covers terms of the question."""
    terms_before: int = 0
    terms_after: int = 0
    """Numbers of terms that were taken up before and after the link."""


@dataclass(frozen=True)
class _Steps:
    """The possible steps from one entity, sorted by the number of the entity they lead to.

    `sentences` and `ends`: numbers, one per step. `coverage`: steps × stems. `costs`: one per step. `group_starts`:
    indexes of the first step to each entity.
    """

    sentences: Array
    ends: Array
    coverage: Array
    costs: Array
    group_starts: Array


@dataclass(frozen=True)
class _OrderedTerms:
    """The terms on either side of one link, the nearest first, as indexes of the sorted stems."""

    before: Array
    after: Array

    def __len__(self) -> int:
        return len(self.before) + len(self.after)


def search_paths(subgraph: Subgraph, starts: Sequence[str]) -> list[Path]:
    """Return the paths found by beam search from these entities, of every length, the best score first.

    A question nests what it asks around a name: in "the founder of the firm that X worked for" the words next to X, on
    either side, describe the first step. So each step takes up the next few terms before and after the link, and is
    scored by how much more of them it covers than the other steps that are possible there.
    """
    stems = subgraph.stems
    if not stems:
        return []
    lookup = _StepTable(subgraph)
    found: list[Path] = []
    for start in starts:
        goal = _ordered_terms(subgraph, stems, start)
        beam = [Path((start,), (), np.zeros(len(stems)), -MISSING_TERM_COST * len(goal))]
        for _ in range(min(MAX_DEPTH, len(goal))):
            beam = _extend_beam(beam, lookup, goal)
            found += beam
    return sorted(found, key=lambda path: -path.score)


def informative_paths(found: Sequence[Path]) -> list[Path]:
    """Return the informative paths, each sequence of entities and chunks once, with its best score.

    The search yields one path for each way to divide the terms among the steps.
    """
    candidates: dict[tuple[object, ...], Path] = {}
    for path in found:
        if path.informative:
            candidates.setdefault((path.entities, path.chunk_ids), path)
    return list(candidates.values())


def rank_chunks(candidates: Sequence[Path], subgraph: Subgraph, groups: Sequence[Collection[str]]) -> list[str]:
    """Return ids of the chunks on these paths, and of the chunks that define their entities, the best first.

    A chunk's probability is the sum over its paths, so several paths that share their first steps outweigh a better one
    that goes elsewhere. `groups` are the entities that each link of the question may mean; chunks of the groups take
    turns, because a question that compares two things needs both.
    """
    lists: list[list[str]] = []
    for group in groups:
        scores: defaultdict[str, float] = defaultdict(float)
        for path in [path for path in candidates if path.entities[0] in group][:MAX_PATHS]:
            about = [chunk for name in path.entities[1:] for chunk in subgraph.defining_chunks(name)[:1]]
            likely = path.score - OPEN_TERM_FACTOR * (path.optimistic_score - path.score)
            for chunk in dict.fromkeys([*path.chunk_ids, *about]):
                scores[chunk] += math.exp(likely - (0.0 if chunk in path.chunk_ids else ENTITY_CHUNK_COST))
        lists.append(sorted(scores, key=lambda chunk: -scores[chunk]))
    return interleave(*lists, key=lambda chunk: chunk)


def _ordered_terms(subgraph: Subgraph, stems: Sequence[str], start: str) -> _OrderedTerms:
    terms = subgraph.terms
    linked = (
        start
        if start in terms.context_terms
        else next((n for n in subgraph.aliases([start]) if n in terms.context_terms), "")
    )
    # Without a link there is no side: words are taken from the end, where English says what comes first.
    before, behind = terms.context_terms.get(linked, (tuple(terms.words)[::-1], ()))
    number = {stem: n for n, stem in enumerate(stems)}
    return _OrderedTerms(
        np.array([number[word] for word in before], np.int64), np.array([number[word] for word in behind], np.int64)
    )


@dataclass(frozen=True)
class _Continuations:
    """The possible continuations of a path: arrays of step × terms taken up before × terms taken up after the link."""

    path: Path
    steps: _Steps
    gains: Array
    scores: Array
    optimistic_scores: Array

    def best(self) -> Iterator[tuple[float, "_Continuations", int]]:
        """Yield optimistic scores with flat indexes of the best continuations."""
        flat: Array = self.optimistic_scores.ravel()
        few: Array = np.argsort(-flat)[:MAX_CONTINUATIONS]
        return ((promise, self, place) for promise, place in zip(flat[few].tolist(), few.tolist(), strict=True))

    def coordinates(self, place: int) -> tuple[int, int, int]:
        """Return the step of a flat index, and the numbers of terms taken up before and after the link by then."""
        rest, behind = divmod(place, self.scores.shape[2])
        number, before = divmod(rest, self.scores.shape[1])
        return number, self.path.terms_before + before, self.path.terms_after + behind


def _extend_beam(beam: Sequence[Path], lookup: "_StepTable", goal: _OrderedTerms) -> list[Path]:
    """Return the best paths by optimistic score that are one step longer."""
    every = [_continuations(path, steps, goal) for path in beam if len((steps := lookup.of(path.entities[-1])).ends)]
    kept: dict[tuple[object, ...], Path] = {}
    for _, options, place in sorted((one for some in every for one in some.best()), key=_first, reverse=True):
        number, before, behind = options.coordinates(place)
        path, name, chunk = options.path, lookup.end(options.steps, number), lookup.chunk_id(options.steps, number)
        if name in path.entities:
            continue
        chunks = path.chunk_ids if path.chunk_ids[-1:] == (chunk,) else (*path.chunk_ids, chunk)
        key = (name, before, behind, *chunks)
        if key not in kept:
            kept[key] = _extend(options, goal, place, name, chunks)
            if len(kept) == BEAM_WIDTH:
                break
    return list(kept.values())


_first = itemgetter(0)


def _continuations(path: Path, steps: _Steps, goal: _OrderedTerms) -> _Continuations:
    more = np.maximum(0.0, steps.coverage - path.coverage)
    before, behind = goal.before[path.terms_before :], goal.after[path.terms_after :]
    late = more[:, goal.before[: path.terms_before]].sum(axis=1) + more[:, goal.after[: path.terms_after]].sum(axis=1)
    sides = _prefix_sums(more[:, before[:MAX_TERMS_PER_STEP]]), _prefix_sums(more[:, behind[:MAX_TERMS_PER_STEP]])
    gains = LATE_TERM_FACTOR * late[:, None, None] + sides[0][:, :, None] + sides[1][:, None, :]
    odds = TERM_LOG_ODDS * gains - steps.costs[:, None, None]
    rivals: Array = np.exp(np.maximum.reduceat(odds, steps.group_starts)).sum(axis=0)
    values = path.score + odds - np.log(rivals) + MISSING_TERM_COST * gains - STEP_COST
    come: Array = np.add.outer(range(gains.shape[1]), range(gains.shape[2]))
    return _Continuations(
        path, steps, gains, values, values + EXPECTED_COVERAGE * MISSING_TERM_COST * (len(before) + len(behind) - come)
    )


def _extend(options: _Continuations, goal: _OrderedTerms, place: int, name: str, chunk_ids: tuple[str, ...]) -> Path:
    """Return the path with that continuation, which leads to this entity and lies in these chunks."""
    number, before, behind = options.coordinates(place)
    path = options.path
    come = [*goal.before[:before], *goal.after[:behind]]
    said = path.coverage.copy()
    said[come] = np.maximum(said[come], options.steps.coverage[number][come])
    return Path(
        (*path.entities, name),
        chunk_ids,
        said,
        score=float(options.scores.flat[place]),
        optimistic_score=float(options.optimistic_scores.flat[place]),
        informative=bool(options.gains.flat[place] > MIN_GAIN),
        terms_before=before,
        terms_after=behind,
    )


def _prefix_sums(rows: Array) -> Array:
    """Return sums of the first 0, 1, 2 ... columns."""
    sums = np.zeros((len(rows), rows.shape[1] + 1))
    np.cumsum(rows, axis=1, out=sums[:, 1:])
    return sums


class _StepTable:
    """The possible steps from each entity, computed on demand."""

    def __init__(self, subgraph: Subgraph) -> None:
        self._mentions, self._names = subgraph.mentions, list(subgraph.mentions.numbers)
        self._coverage, self._chunk_ids = subgraph.coverage, subgraph.chunk_ids
        self._describing_terms = subgraph.describing_terms()
        self._steps: dict[str, _Steps] = {}

    def of(self, name: str) -> _Steps:
        """Return the steps from this entity."""
        if name not in self._steps:
            self._steps[name] = self._make(name)
        return self._steps[name]

    def end(self, steps: _Steps, number: int) -> str:
        """Return the entity that a step leads to."""
        return self._names[int(steps.ends[number])]

    def chunk_id(self, steps: _Steps, number: int) -> str:
        """Return the chunk of a step's sentence."""
        return self._chunk_ids[int(steps.sentences[number])]

    def _make(self, name: str) -> _Steps:
        known, entity = self._mentions.arrays, self._mentions.numbers[name]
        here = known.of(entity)
        others, which = known.beside(here)
        chosen = np.flatnonzero(known.entities[others] != entity)[:MAX_STEPS]
        chosen = chosen[np.argsort(known.entities[others[chosen]], kind="stable")]
        others, here = others[chosen], here[which[chosen]]
        ends, sentences = known.entities[others], known.sentences[others]
        says: Array = self._coverage[sentences]
        for end in {*ends.tolist()} & self._describing_terms.keys():
            says[np.ix_(ends == end, self._describing_terms[end])] = 1.0
        sideways = np.where(known.weights[others] > MENTIONED, REVERSED_COST, SIDEWAYS_COST)
        costs = np.where(known.weights[here] > MENTIONED, 0.0, sideways)
        begins = np.flatnonzero(np.diff(ends, prepend=-1))
        return _Steps(sentences, ends, says, costs, begins)
