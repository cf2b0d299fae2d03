"""The ways from a linked entity that say what a question asks, each step a sentence that ties two entities."""

import math
from collections import defaultdict
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from services.query.retrieval.multihop.query_terms import QueryTerms
from services.query.retrieval.multihop.sentences import NAMED, Sentence
from services.query.retrieval.multihop.subgraph import Subgraph
from services.query.retrieval.ranking import interleave

BACK, BESIDE = 4.0, 4.5
"""How much less likely a step is, as a logarithm, than one from what a sentence is about to what it names: the other
way round, and between two that it only names."""
TERM_LOG_ODDS = 4.0
"""How much likelier a step is, as a logarithm, for each asked word that it says and the others from there do not."""
MISSING_TERM_COST = 1.5
"""What each asked word costs that no step says,"""
STEP_COST = 1.0
"""and each step; in the same measure."""
MAX_TERMS_PER_STEP = 3
"""Words before the link, and behind it, that a step may come to."""
LATE_TERM_FACTOR = 0.75
"""What is left of a word that is said by a later step than the one that came to it."""
EXPECTED_COVERAGE = 0.6
"""How much of a word that was not come to is expected to be said."""
MIN_GAIN = 0.3
"""Words that a telling step says at least."""
ENTITY_CHUNK_COST = 2.0
"""How much less likely than a path's own passages one is that is about an entity on it; a logarithm as well."""
OPEN_TERM_FACTOR = 0.5
"""How much of what may still be hoped for of a path counts against its being all that is asked."""
MEANT, NEAR, SAME = 0.9, 0.1, 0.7
"""How much a sentence says a word at most that it means by another, and the likeness, as a cosine, from which it does
so a little, and in full: by the square of what lies between."""
BEAM_WIDTH = 60
"""Paths that are followed further,"""
MAX_CONTINUATIONS = 24
"""ways on from each that are looked at,"""
MAX_DEPTH = 5
"""how often,"""
MAX_PATHS = 200
"""and ways from one link whose passages are listed."""
MAX_STEPS = 400
"""Steps from one entity that are looked at."""

Array = Any


@dataclass(frozen=True)
class Path:
    """A way from a linked entity: the entities, the passages between them, how much of each asked word they say."""

    entities: tuple[str, ...]
    chunk_ids: tuple[str, ...]
    coverage: Array
    score: float
    """Logarithm of how likely its steps are among all, less what is not said."""
    optimistic_score: float = 0.0
    """The value, and what may be hoped for from the words that were not come to."""
    informative: bool = False
    """Whether the last step says something of the question."""
    terms_before: int = 0
    terms_after: int = 0
    """Words on either side of the link that were come to."""


@dataclass(frozen=True)
class _Steps:
    """The steps from one entity, those to the same one together: how much each says of each word, what it costs, and
    where those to another one begin.
    """

    transitions: Sequence[tuple[Sentence, str]]
    coverage: Array
    costs: Array
    group_starts: Array


@dataclass(frozen=True)
class _OrderedTerms:
    """What is asked of one link: the numbers of the words on either side, the nearest first."""

    before: Array
    after: Array

    def __len__(self) -> int:
        return len(self.before) + len(self.after)


def search_paths(known: Subgraph, asked: QueryTerms, starts: Sequence[str]) -> list[Path]:
    """Beam search for the ways that say most of what is asked, the best first.

    A question nests what it asks around the name: in "the founder of the firm that X worked for" the words next to X,
    on either side, are the first step. Each step comes to the next few words before and behind, and is measured by how
    much more of them it says than the other steps that could be taken there.
    """
    stems = sorted(asked.stems)
    if not stems:
        return []
    lookup = _StepTable(known, stems)
    found: list[Path] = []
    for start in starts:
        goal = _ordered_terms(known, asked, stems, start)
        beam = [Path((start,), (), np.zeros(len(stems)), -MISSING_TERM_COST * len(goal))]
        for _ in range(min(MAX_DEPTH, len(goal))):
            beam = _extend_beam(beam, lookup, goal)
            found += beam
    return sorted(found, key=lambda path: -path.score)


def informative_paths(found: Sequence[Path]) -> list[Path]:
    """Those whose last step says something of the question, each way once: there is one path for each manner to come
    to the question's words, of which the best counts.
    """
    ways: dict[tuple[object, ...], Path] = {}
    for path in found:
        if path.informative:
            ways.setdefault((path.entities, path.chunk_ids), path)
    return list(ways.values())


def rank_chunks(ways: Sequence[Path], known: Subgraph, groups: Sequence[Collection[str]]) -> list[str]:
    """The passages on these ways, and those that are about the entities on them, the likeliest to be needed first.

    A way is as likely as its value says, less so while words are left that it has not come to, and a passage as all the
    ways that it is on together: several that agree on their first steps outweigh a better one that goes elsewhere.
    `groups` are the names that each link of the question may mean: their passages are taken in turn, for a question
    that compares two things needs both.
    """
    lists: list[list[str]] = []
    for group in groups:
        scores: defaultdict[str, float] = defaultdict(float)
        for path in [path for path in ways if path.entities[0] in group][:MAX_PATHS]:
            about = [chunk for name in path.entities[1:] for chunk in known.defining_chunks(name)[:1]]
            likely = path.score - OPEN_TERM_FACTOR * (path.optimistic_score - path.score)
            for chunk in dict.fromkeys([*path.chunk_ids, *about]):
                scores[chunk] += math.exp(likely - (0.0 if chunk in path.chunk_ids else ENTITY_CHUNK_COST))
        lists.append(sorted(scores, key=lambda chunk: -scores[chunk]))
    return interleave(*lists, key=lambda chunk: chunk)


def _ordered_terms(known: Subgraph, asked: QueryTerms, stems: Sequence[str], start: str) -> _OrderedTerms:
    linked = (
        start
        if start in asked.context_terms
        else next((n for n in known.aliases([start]) if n in asked.context_terms), "")
    )
    # Without a link there is no side: words are taken from the end, where English says what comes first.
    before, behind = asked.context_terms.get(linked, (tuple(asked.words)[::-1], ()))
    number = {stem: n for n, stem in enumerate(stems)}
    return _OrderedTerms(
        np.array([number[word] for word in before], np.int64), np.array([number[word] for word in behind], np.int64)
    )


@dataclass(frozen=True)
class _Continuations:
    """What may come next on a path, by step and by the words before and behind the link that it comes to."""

    path: Path
    steps: _Steps
    gains: Array
    scores: Array
    optimistic_scores: Array

    def best(self) -> Iterator[tuple[float, "_Continuations", int]]:
        """The most promising places."""
        flat: Array = self.optimistic_scores.ravel()
        few: Array = np.argsort(-flat)[:MAX_CONTINUATIONS]
        return ((promise, self, place) for promise, place in zip(flat[few].tolist(), few.tolist(), strict=True))


def _extend_beam(beam: Sequence[Path], lookup: "_StepTable", goal: _OrderedTerms) -> list[Path]:
    """The most promising paths that are one step longer."""
    every = [_continuations(path, steps, goal) for path in beam if (steps := lookup.of(path.entities[-1])).transitions]
    kept: dict[tuple[object, ...], Path] = {}
    for _, options, place in sorted((one for some in every for one in some.best()), key=lambda one: -one[0]):
        path = _extend(options, goal, place)
        if path is not None:
            kept.setdefault((path.entities[-1], path.terms_before, path.terms_after, *path.chunk_ids), path)
        if len(kept) == BEAM_WIDTH:
            break
    return list(kept.values())


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


def _extend(options: _Continuations, goal: _OrderedTerms, place: int) -> Path | None:
    """The path with that step, unless it was at its end before."""
    number, before, behind = map(int, np.unravel_index(place, options.scores.shape))
    path, (sentence, name) = options.path, options.steps.transitions[number]
    if name in path.entities:
        return None
    before, behind = path.terms_before + before, path.terms_after + behind
    come = [*goal.before[:before], *goal.after[:behind]]
    said = path.coverage.copy()
    said[come] = np.maximum(said[come], options.steps.coverage[number][come])
    return Path(
        (*path.entities, name),
        path.chunk_ids if path.chunk_ids[-1:] == (sentence.chunk_id,) else (*path.chunk_ids, sentence.chunk_id),
        said,
        score=float(options.scores.flat[place]),
        optimistic_score=float(options.optimistic_scores.flat[place]),
        informative=bool(options.gains.flat[place] > MIN_GAIN),
        terms_before=before,
        terms_after=behind,
    )


def _prefix_sums(rows: Array) -> Array:
    """Of the first none, one, two ... columns."""
    return np.concatenate([np.zeros((len(rows), 1)), np.cumsum(rows, axis=1)], axis=1)


class _StepTable:
    """The steps from each entity, made when they are asked for."""

    def __init__(self, known: Subgraph, stems: Sequence[str]) -> None:
        self._stems = stems
        self._describing_terms = known.describing_terms()
        self._synonyms = _synonym_weights(known, stems)
        self._subgraph = known
        self._steps: dict[str, _Steps] = {}

    def of(self, name: str) -> _Steps:
        """Those from this entity."""
        if name not in self._steps:
            self._steps[name] = self._make(name)
        return self._steps[name]

    def _make(self, name: str) -> _Steps:
        ways = [
            (s, other) for s in self._subgraph.sentences_about(name) for other in s.entity_weights if other != name
        ][:MAX_STEPS]
        ways.sort(key=lambda way: way[1])
        begins = [n for n, (_, other) in enumerate(ways) if not n or other != ways[n - 1][1]]
        says = np.zeros((len(ways), len(self._stems)))
        for number, (sentence, other) in enumerate(ways):
            heard = sentence.query_stems | self._describing_terms.get(other, frozenset())
            says[number] = [float(word in heard) for word in self._stems]
            rows = [self._synonyms[word] for word in sentence.words if word in self._synonyms]
            says[number] = np.max([says[number], *rows], axis=0)
        costs = np.array([_step_cost(sentence, name, other) for sentence, other in ways])
        return _Steps(ways, says, costs, np.array(begins, np.int64))


def _step_cost(sentence: Sentence, here: str, there: str) -> float:
    if sentence.entity_weights[here] > NAMED:
        return 0.0
    return BACK if sentence.entity_weights[there] > NAMED else BESIDE


def _synonym_weights(known: Subgraph, stems: Sequence[str]) -> dict[str, Array]:
    """How much each word of sentences means each asked word."""
    if not known.word_vectors:
        return {}
    likeness = np.array(list(known.word_vectors.values())) @ np.array([known.query_vectors[word] for word in stems]).T
    return dict(zip(known.word_vectors, np.clip((likeness - NEAR) / (SAME - NEAR), 0.0, 1.0) ** 2 * MEANT, strict=True))
