"""Beam search for paths of passages that account for the words of the question.

A path starts at a passage and goes on along the ways of the index. Its value is the share of the
question's words that it accounts for, each word once: by the sentences that it goes through, and by
the place where it ends. A step costs the more, the more of the other steps that are possible there
account for as much.
"""

import math
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from services.query.retrieval.multihop.evidence import Evidence
from services.query.retrieval.passage_index.index import ACROSS, BACK, ONWARD, PassageIndex

Array = Any

SIMILARITY_WEIGHT = 0.2
"""What the similarity of the last passage adds to a path's value; words count 1 together."""
STEP_COST = 0.1
"""What a step costs at least."""
RIVALS_WEIGHT, SHARPNESS = 0.1, 10.0
"""A step also costs `RIVALS_WEIGHT` times the logarithm of its share among all, by e to `SHARPNESS`
times its gain. Paths that a passage is on count together in the same way.
"""
KIND_WEIGHTS = np.array([1.0, 0.3, 0.1])
"""Of ways onward, back and across in these shares."""
OFF_TOPIC_WEIGHT = 0.1
"""Of ways through sentences that are not about the entity of the place where the path stands."""
MAX_STEPS = 3
"""Steps of a path at most, so that it has one passage more."""
BEAM_WIDTH = 24
"""Paths that are kept after each step."""
MAX_WAYS = 400
"""Ways from one passage that are compared, those whose sentences account for most."""


@dataclass(frozen=True, slots=True)
class Start:
    """Where paths begin: a passage, and its place if it was reached by a name in the question."""

    passage: int
    weight: float
    place: int = -1


@dataclass(frozen=True, slots=True)
class Path:
    """A path; `places` has -1 for a passage that was not reached by a name."""

    value: float
    passages: tuple[int, ...]
    places: tuple[int, ...]
    covered: Array
    """How much of each term the sentences of its steps account for."""
    score: float
    """Of its start and its steps, without the passage where it ends."""


def search_paths(
    index: PassageIndex,
    evidence: Evidence,
    starts: Sequence[Start],
    kinds: Collection[int] = (ONWARD, BACK, ACROSS),
    width: int = BEAM_WIDTH,
) -> list[Path]:
    """Return the paths that were kept, of every length, the best first.

    All keep to ways of these kinds and to places that are usable; `width` of each length are kept.
    """
    search = _Search(index, evidence, kinds, width)
    beam = [search.begin(start) for start in starts]
    paths = list(beam)
    for _ in range(MAX_STEPS):
        beam = search.longer(beam)
        paths += beam
    return sorted(paths, key=lambda path: -path.value)


def passage_values(paths: Sequence[Path]) -> dict[int, float]:
    """Return the value of each passage: of all paths that it is on together, as if values were
    likelihoods.

    So paths that agree on a passage outweigh a better one that goes elsewhere.
    """
    sums: dict[int, float] = {}
    for path in paths:
        for passage in path.passages:
            sums[passage] = float(np.logaddexp(sums.get(passage, -np.inf), SHARPNESS * path.value))
    return {passage: total / SHARPNESS for passage, total in sums.items()}


@dataclass(frozen=True, slots=True)
class _Steps:
    """The steps that are possible at the ends of paths: parallel arrays, and terms × steps."""

    beam: Sequence[Path]
    of: Array
    """The number of the path that a step prolongs. Steps of one path are together, in the order of
    paths.
    """
    values: Array
    scores: Array
    places: Array
    passages: Array
    covered: Array

    def path_by(self, step: int) -> Path | None:
        """Return the path with this step; None if it leads back."""
        path, passage = self.beam[int(self.of[step])], int(self.passages[step])
        if passage in path.passages:
            return None
        passages, places = (*path.passages, passage), (*path.places, int(self.places[step]))
        covered, score = self.covered[:, step], float(self.scores[step])
        return Path(float(self.values[step]), passages, places, covered, score)


class _Search:
    """Prolongs all paths of a beam by the same few operations on arrays: one path alone has too few
    ways for them.
    """

    def __init__(
        self, index: PassageIndex, evidence: Evidence, kinds: Collection[int], width: int
    ) -> None:
        self._index, self._evidence, self._width = index, evidence, width
        self._kinds = np.isin(np.arange(len(KIND_WEIGHTS)), list(kinds))
        self._telling = evidence.weights @ evidence.sentences
        self._similar = SIMILARITY_WEIGHT * evidence.similarity

    def begin(self, start: Start) -> Path:
        evidence = self._evidence
        covered = (
            evidence.places[:, start.place]
            if start.place >= 0
            else evidence.passages[:, start.passage]
        )
        value = (
            start.weight + float(evidence.weights @ covered) + float(self._similar[start.passage])
        )
        return Path(
            value, (start.passage,), (start.place,), np.zeros(len(evidence.weights)), start.weight
        )

    def longer(self, beam: Sequence[Path]) -> list[Path]:
        """Return the best paths of one step more, one to each place."""
        steps = self._steps(beam)
        longer: dict[int, Path] = {}
        for step in np.argsort(-steps.values, kind="stable").tolist():
            path = steps.path_by(step)
            if path is not None:
                longer.setdefault(path.places[-1], path)
            if len(longer) == self._width:
                break
        return list(longer.values())

    def _steps(self, beam: Sequence[Path]) -> _Steps:
        index, evidence = self._index, self._evidence
        ways, of = self._ways(beam)
        places, sentences = index.ways.places[ways], index.ways.sentences[ways]
        passages = index.passage_of[places]
        before = (
            np.array([path.covered for path in beam])
            .reshape(len(beam), len(evidence.weights))
            .T[:, of]
        )
        covered = np.maximum(before, evidence.sentences[:, sentences])
        gains = evidence.weights @ (covered - before)
        shares = self._log_shares(beam, ways, of, gains)
        scores = (
            np.array([path.score for path in beam])[of] - STEP_COST + gains + RIVALS_WEIGHT * shares
        )
        ends = np.maximum(covered, evidence.places[:, places])
        values = scores + evidence.weights @ (ends - covered) + self._similar[passages]
        return _Steps(beam, of, values, scores, places, passages, covered)

    def _ways(self, beam: Sequence[Path]) -> tuple[Array, Array]:
        """Return the numbers of the ways from the last passages, and the number of the path of
        each.
        """
        ways = self._index.ways
        last = np.array([path.passages[-1] for path in beam], int)
        begins, counts = ways.starts[last], ways.starts[last + 1] - ways.starts[last]
        of = np.repeat(np.arange(len(beam)), counts)
        numbers = np.arange(len(of)) + np.repeat(begins - np.cumsum(counts) + counts, counts)
        usable = self._kinds[ways.kinds[numbers]] & self._evidence.usable[ways.places[numbers]]
        numbers, of = numbers[usable], of[usable]
        if len(numbers) and np.bincount(of).max() > MAX_WAYS:
            order = np.lexsort((-self._telling[ways.sentences[numbers]], of))
            within = np.arange(len(of)) - np.searchsorted(of, of)
            kept = order[within < MAX_WAYS]
            numbers, of = numbers[kept], of[kept]
        return numbers, of

    def _log_shares(self, beam: Sequence[Path], ways: Array, of: Array, gains: Array) -> Array:
        """Return the logarithm of the share that each way has among those of its path."""
        index = self._index
        kinds: Array = index.ways.kinds[ways]
        weights: Array = np.log(KIND_WEIGHTS[kinds]) + SHARPNESS * gains
        if not len(ways):
            return weights
        firsts: Array = np.flatnonzero(np.diff(of, prepend=-1))
        from_places: Array = np.array([path.places[-1] for path in beam], int)[of]
        back: Array = kinds == BACK
        same: Array = index.entity_of[index.ways.places[ways]] == index.entity_of[from_places]
        about, marked = np.zeros(len(ways), bool), np.zeros(len(self._telling), bool)
        for first, end in zip(firsts, [*firsts[1:], len(ways)], strict=True):
            if (place := from_places[first]) >= 0:
                sentences = index.sentences_of.of(place)
                marked[sentences] = True
                about[first:end] = marked[index.ways.sentences[ways[first:end]]]
                marked[sentences] = False
        on_topic: Array = (back & same) | (about & ~same & ~back) | (from_places < 0)
        weights += math.log(OFF_TOPIC_WEIGHT) * (1.0 - on_topic)
        return weights - np.repeat(
            np.logaddexp.reduceat(weights, firsts), np.diff([*firsts, len(ways)])
        )
