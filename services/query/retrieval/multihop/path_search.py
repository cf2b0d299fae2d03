"""Beam search for paths of passages that account for the words of the question.

A path starts at a passage and goes on along the edges of the index. Its value is the share of the
question's words that it accounts for, each word once: by the sentences that it goes through, and by
the mention where it ends. A step costs the more, the more of the other steps that are possible
there account for as much.
"""

import math
from collections.abc import Collection, Sequence
from dataclasses import dataclass

import numpy as np

from services.query.retrieval.arrays import Booleans, Floats, Integers
from services.query.retrieval.multihop.evidence import Evidence
from services.query.retrieval.passage_index.edges import ACROSS, BACK, ONWARD
from services.query.retrieval.passage_index.grouped import group_sizes, positions_of_groups
from services.query.retrieval.passage_index.index import NO_MENTION, PassageIndex

SIMILARITY_WEIGHT = 0.2
"""What the similarity of the last passage adds to a path's value; words count 1 together."""
STEP_COST = 0.1
"""What a step costs at least."""
SHARPNESS = 10.0
"""A step has a share among the possible ones by e to `SHARPNESS` times its gain. Paths that a
passage is on count together in the same way.
"""
RIVALS_WEIGHT = 0.1
"""A step also costs this times the negative logarithm of its share."""
KIND_WEIGHTS = np.array([1.0, 0.3, 0.1])
"""Of edges onward, back and across in these shares."""
OFF_TOPIC_WEIGHT = 0.1
"""Of edges through sentences that are not about the entity of the mention where the path is."""
MAX_STEPS = 3
"""Steps of a path at most, so that it has one passage more."""
BEAM_WIDTH = 24
"""Paths that go on after each step."""
MAX_EDGES = 400
"""Edges from one passage that are compared, those whose sentences account for most."""


@dataclass(frozen=True, slots=True)
class Start:
    """Where paths begin: a passage, and the mention in it if a name in the question led there."""

    passage: int
    weight: float
    mention: int = NO_MENTION


@dataclass(frozen=True, slots=True)
class Path:
    """A path; `mentions` has `NO_MENTION` for a passage that was not reached by a name."""

    value: float
    passages: tuple[int, ...]
    mentions: tuple[int, ...]
    covered_terms: Floats
    """(terms,): how much of each the sentences of its steps account for."""
    score: float
    """Of its start and its steps, without the passage where it ends."""


def search_paths(
    index: PassageIndex,
    evidence: Evidence,
    starts: Sequence[Start],
    kinds: Collection[int] = (ONWARD, BACK, ACROSS),
    width: int = BEAM_WIDTH,
) -> list[Path]:
    """Return the paths of every length in the beam, the best first.

    All go along edges of these kinds and to mentions that are usable; the beam has `width` of each
    length.
    """
    search = _Search(index, evidence, kinds, width)
    beam = [search.begin(start) for start in starts]
    paths = list(beam)
    for _ in range(MAX_STEPS):
        beam = search.extend(beam)
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
            total = sums.get(passage, -np.inf)
            sums[passage] = float(np.logaddexp(total, SHARPNESS * path.value))
    return {passage: total / SHARPNESS for passage, total in sums.items()}


@dataclass(frozen=True, slots=True, kw_only=True)
class _Steps:
    """The steps that are possible at the ends of paths: parallel arrays, an item per step. Steps of
    one path are together, in the order of paths.
    """

    beam: Sequence[Path]
    paths: Integers
    """The number of the path that the step extends."""
    values: Floats
    scores: Floats
    mentions: Integers
    passages: Integers
    covered_terms: Floats
    """(terms, steps)"""

    def path_with(self, step: int) -> Path | None:
        """Return the path with this step; None if it leads back."""
        path = self.beam[int(self.paths[step])]
        passage = int(self.passages[step])
        if passage in path.passages:
            return None
        return Path(
            value=float(self.values[step]),
            passages=(*path.passages, passage),
            mentions=(*path.mentions, int(self.mentions[step])),
            covered_terms=self.covered_terms[:, step],
            score=float(self.scores[step]),
        )


class _Search:
    """Extends all paths of a beam by the same few operations on arrays: one path alone has too few
    edges for them.
    """

    def __init__(
        self, index: PassageIndex, evidence: Evidence, kinds: Collection[int], width: int
    ) -> None:
        self._index = index
        self._evidence = evidence
        self._width = width
        self._uses_kind = np.isin(np.arange(len(KIND_WEIGHTS)), list(kinds))
        """(kinds,)"""
        self._sentence_values: Floats = evidence.weights @ evidence.sentences
        """(sentences,): the share of the question that each accounts for."""
        self._similar = SIMILARITY_WEIGHT * evidence.similarity
        """(passages,)"""

    def begin(self, start: Start) -> Path:
        """Return the path of one passage."""
        evidence = self._evidence
        if start.mention == NO_MENTION:
            covered_terms = evidence.passages[:, start.passage]
        else:
            covered_terms = evidence.mentions[:, start.mention]
        words_value = float(evidence.weights @ covered_terms)
        return Path(
            value=start.weight + words_value + float(self._similar[start.passage]),
            passages=(start.passage,),
            mentions=(start.mention,),
            covered_terms=np.zeros(len(evidence.weights)),
            score=start.weight,
        )

    def extend(self, beam: Sequence[Path]) -> list[Path]:
        """Return the best paths of one step more, one to each mention."""
        steps = self._steps(beam)
        extended_paths: dict[int, Path] = {}
        for step in np.argsort(-steps.values, kind="stable").tolist():
            path = steps.path_with(step)
            if path is not None:
                extended_paths.setdefault(path.mentions[-1], path)
            if len(extended_paths) == self._width:
                break
        return list(extended_paths.values())

    def _steps(self, beam: Sequence[Path]) -> _Steps:
        evidence = self._evidence
        edges, paths = self._usable_edges(beam)
        mentions = self._index.edges.mentions[edges]
        passages = self._index.passage_of[mentions]
        covered_by_path = np.array([path.covered_terms for path in beam])
        before = covered_by_path.reshape(len(beam), len(evidence.weights)).T[:, paths]
        sentences = self._index.edges.sentences[edges]
        covered_terms = np.maximum(before, evidence.sentences[:, sentences])
        gains = evidence.weights @ (covered_terms - before)
        log_shares = self._log_shares(beam, edges, paths, gains)
        previous_scores = np.array([path.score for path in beam])[paths]
        scores = previous_scores - STEP_COST + gains + RIVALS_WEIGHT * log_shares
        covered_at_end = np.maximum(covered_terms, evidence.mentions[:, mentions])
        gains_at_end = evidence.weights @ (covered_at_end - covered_terms)
        return _Steps(
            beam=beam,
            paths=paths,
            values=scores + gains_at_end + self._similar[passages],
            scores=scores,
            mentions=mentions,
            passages=passages,
            covered_terms=covered_terms,
        )

    def _usable_edges(self, beam: Sequence[Path]) -> tuple[Integers, Integers]:
        """Return the numbers of the edges from the last passages, and the number of the path of
        each.
        """
        edges = self._index.edges
        last_passages = np.array([path.passages[-1] for path in beam], np.int64)
        numbers = positions_of_groups(edges.starts, last_passages)
        paths = np.repeat(np.arange(len(beam)), group_sizes(edges.starts, last_passages))
        is_usable = self._evidence.usable[edges.mentions[numbers]]
        is_usable &= self._uses_kind[edges.kinds[numbers]]
        numbers = numbers[is_usable]
        paths = paths[is_usable]
        if not len(numbers) or np.bincount(paths).max() <= MAX_EDGES:
            return numbers, paths
        order = np.lexsort((-self._sentence_values[edges.sentences[numbers]], paths))
        # `paths` is sorted: what precedes an edge among those of its path is its rank there.
        rank_in_path = np.arange(len(paths)) - np.searchsorted(paths, paths)
        best = order[rank_in_path < MAX_EDGES]
        return numbers[best], paths[best]

    def _log_shares(
        self, beam: Sequence[Path], edges: Integers, paths: Integers, gains: Floats
    ) -> Floats:
        """Return (edges,): the logarithm of the share that each has among those of its path."""
        weights = np.log(KIND_WEIGHTS[self._index.edges.kinds[edges]]) + SHARPNESS * gains
        if not len(edges):
            return weights
        is_on_topic = self._is_on_topic(beam, edges, paths)
        weights += math.log(OFF_TOPIC_WEIGHT) * (1.0 - is_on_topic)
        first_edges = np.flatnonzero(np.diff(paths, prepend=-1))
        counts = np.diff(first_edges, append=len(edges))
        return weights - np.repeat(np.logaddexp.reduceat(weights, first_edges), counts)

    def _is_on_topic(self, beam: Sequence[Path], edges: Integers, paths: Integers) -> Booleans:
        """Return (edges,): whether each goes on from the mention where its path is.

        Back from a definition leads to the same entity; another edge has to go through a sentence
        about the entity, and to another one.
        """
        index = self._index
        last_mentions = np.array([path.mentions[-1] for path in beam], np.int64)[paths]
        is_back = index.edges.kinds[edges] == BACK
        is_same = index.entity_of[index.edges.mentions[edges]] == index.entity_of[last_mentions]
        is_about = self._is_about(last_mentions, edges, paths)
        is_onward = is_about & ~is_same & ~is_back
        return (is_back & is_same) | is_onward | (last_mentions == NO_MENTION)

    def _is_about(self, last_mentions: Integers, edges: Integers, paths: Integers) -> Booleans:
        """Return (edges,): whether the sentence of each is one of the mention where its path is."""
        index = self._index
        is_about = np.zeros(len(edges), np.bool_)
        is_sentence_of_mention = np.zeros(index.sentence_count, np.bool_)
        first_edges = np.flatnonzero(np.diff(paths, prepend=-1))
        ends = np.append(first_edges[1:], len(edges))
        for first, end in zip(first_edges.tolist(), ends.tolist(), strict=True):
            mention = int(last_mentions[first])
            if mention == NO_MENTION:
                continue
            sentences = index.sentences_of.of(mention)
            is_sentence_of_mention[sentences] = True
            is_about[first:end] = is_sentence_of_mention[index.edges.sentences[edges[first:end]]]
            # The array is as large as the workspace, so it is cleared instead of made anew.
            is_sentence_of_mention[sentences] = False
        return is_about
