"""Beam search for paths of passages that account for the words of the question.

A path starts at a passage and goes on along the ways of the index. Its value is the share of the question's words that
it accounts for, each word once: by the sentences that it goes through, and by the place where it ends. A step costs the
more, the more of the other steps that are possible there account for as much.
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
"""A step also costs `RIVALS_WEIGHT` times the logarithm of its share among all, by e to `SHARPNESS` times its gain."""
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
    found: Evidence,
    starts: Sequence[Start],
    allowed: Array,
    kinds: Collection[int] = (ONWARD, BACK, ACROSS),
    width: int = BEAM_WIDTH,
) -> list[Path]:
    """Return the paths that were kept, of every length, the best first.

    All keep to ways of these kinds and to the passages that are allowed; `width` of each length are kept.
    """
    search = _Search(index, found, allowed, kinds, width)
    beam = [search.begin(start) for start in starts]
    paths = list(beam)
    for _ in range(MAX_STEPS):
        beam = search.longer(beam)
        paths += beam
    return sorted(paths, key=lambda path: -path.value)


@dataclass(frozen=True, slots=True)
class _Steps:
    """The steps that are possible at the end of a path: parallel arrays, and terms × steps."""

    path: Path
    values: Array
    scores: Array
    places: Array
    passages: Array
    covered: Array

    def path_by(self, step: int) -> Path | None:
        """Return the path with this step; None if it leads back."""
        path, passage = self.path, int(self.passages[step])
        if passage in path.passages:
            return None
        passages, places = (*path.passages, passage), (*path.places, int(self.places[step]))
        covered, score = self.covered[:, step], float(self.scores[step])
        return Path(float(self.values[step]), passages, places, covered, score)


class _Search:
    def __init__(
        self, index: PassageIndex, found: Evidence, allowed: Array, kinds: Collection[int], width: int
    ) -> None:
        self._index, self._found, self._allowed, self._width = index, found, allowed > 0, width
        self._kinds = np.isin(np.arange(len(KIND_WEIGHTS)), list(kinds))
        self._telling = found.weights @ found.sentences
        self._similar = SIMILARITY_WEIGHT * found.similarity

    def begin(self, start: Start) -> Path:
        found = self._found
        covered = found.places[:, start.place] if start.place >= 0 else found.passages[:, start.passage]
        value = start.weight + float(found.weights @ covered) + float(self._similar[start.passage])
        return Path(value, (start.passage,), (start.place,), np.zeros(len(found.weights)), start.weight)

    def longer(self, beam: Sequence[Path]) -> list[Path]:
        """Return the best paths of one step more, one to each place."""
        steps = [self._steps(path) for path in beam]
        values = np.concatenate([step.values for step in steps] or [np.zeros(0)])
        of = np.repeat(np.arange(len(steps)), [len(step.values) for step in steps])
        firsts = np.cumsum([0, *(len(step.values) for step in steps)])
        longer: dict[int, Path] = {}
        for number in np.argsort(-values, kind="stable").tolist():
            step = steps[of[number]]
            path = step.path_by(number - firsts[of[number]])
            if path is not None:
                longer.setdefault(path.places[-1], path)
            if len(longer) == self._width:
                break
        return list(longer.values())

    def _steps(self, path: Path) -> "_Steps":
        index, found = self._index, self._found
        ways, places, sentences = self._ways(path)
        passages = index.passage_of[places]
        before = path.covered[:, None]
        covered = np.maximum(before, found.sentences[:, sentences])
        gains = found.weights @ (covered - before)
        scores = path.score - STEP_COST + gains + RIVALS_WEIGHT * self._log_shares(path, ways, gains)
        ends = np.maximum(covered, found.places[:, places])
        values = scores + found.weights @ (ends - covered) + self._similar[passages]
        return _Steps(path, values, scores, places, passages, covered)

    def _ways(self, path: Path) -> tuple[Array, Array, Array]:
        """Return the numbers of the ways from the last passage, their places and sentences."""
        ways = self._index.ways
        begin, end = int(ways.starts[path.passages[-1]]), int(ways.starts[path.passages[-1] + 1])
        usable = self._kinds[ways.kinds[begin:end]] & self._allowed[self._index.passage_of[ways.places[begin:end]]]
        numbers = begin + np.flatnonzero(usable)
        if len(numbers) > MAX_WAYS:
            numbers = numbers[np.argsort(-self._telling[ways.sentences[numbers]], kind="stable")[:MAX_WAYS]]
        return numbers, ways.places[numbers], ways.sentences[numbers]

    def _log_shares(self, path: Path, ways: Array, gains: Array) -> Array:
        """Return the logarithm of the share that each way has among these."""
        index, place = self._index, path.places[-1]
        kinds: Array = index.ways.kinds[ways]
        weights: Array = np.log(KIND_WEIGHTS[kinds]) + SHARPNESS * gains
        if place >= 0:
            back: Array = kinds == BACK
            same: Array = index.entity_of[index.ways.places[ways]] == index.entity_of[place]
            about: Array = np.isin(index.ways.sentences[ways], index.sentences_of.of(place))
            on_topic: Array = (back & same) | (about & ~same & ~back)
            weights += math.log(OFF_TOPIC_WEIGHT) * (1.0 - on_topic)
        return weights - np.logaddexp.reduce(weights)
